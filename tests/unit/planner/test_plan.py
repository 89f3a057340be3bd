"""The plan as a whole: its books balance, its advice makes sense, and it says so when auto-labelling cannot pay."""

from __future__ import annotations

import json

import numpy as np
import pytest

from labelsieve.errors import ConfigurationError, DataError
from labelsieve.planner import Pilot, Plan, plan, read_pilot
from labelsieve.planner.budgets import least_budget, split


def good_pilot(n=100, accuracy=0.92, gap=2.0, seed=0):
    rng = np.random.default_rng(seed)
    right = rng.random(n) < accuracy
    return Pilot(rng.normal(size=n) + gap * right, right)


def books_balance(result: Plan) -> None:
    for case in (result.low, result.middle, result.high):
        assert result.train_budget + result.validation_budget + case.machine_labels + case.left_over == result.pool_size
        assert case.coverage == case.machine_labels / result.pool_size
        assert case.coverage <= result.coverage_limit
        assert case.labels_saved == case.machine_labels - case.audit_labels == result.pool_size - case.human_labels
        assert min(case.machine_labels, case.audit_labels, case.left_over, case.labels_saved) >= 0
        if result.price is not None:
            assert case.cost + case.cost_saved == pytest.approx(result.cost_by_hand)
    assert result.low.coverage <= result.middle.coverage <= result.high.coverage
    assert result.coverage_limit == pytest.approx(
        1 - (result.train_budget + result.validation_budget) / result.pool_size
    )
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    "arguments",
    [
        {"pool_size": 50_000, "classes": 10, "price": 0.08, "minutes": 0.5},
        {"pool_size": 50_000, "classes": 10, "train_budget": 1000, "validation_budget": 2000},
        {"pool_size": 5000, "classes": 200, "budget": 1500, "price": 1},
        {"pool_size": 1797, "classes": 10, "pilot": good_pilot()},
        {"pool_size": 1797, "classes": 10, "pilot_accuracy": 1.0, "tolerance": 0.5, "delta": 0.9, "candidates": 1},
        {"pool_size": 10_000_000, "classes": 1000, "tolerance": 0.01},
        {"pool_size": 300, "classes": 10},
        {"pool_size": 3, "classes": 2},
    ],
)
def test_books_balance(arguments):
    books_balance(plan(**arguments))


def test_same_arguments_same_plan():
    assert plan(5000, 5, pilot=good_pilot()) == plan(5000, 5, pilot=good_pilot())


def test_prices_and_hours():
    result = plan(20_000, 5, pilot_accuracy=0.9, price=0.1, minutes=3)
    assert result.cost_by_hand == pytest.approx(2000)
    assert result.hours_by_hand == pytest.approx(1000)
    assert result.middle.cost_saved == pytest.approx(0.1 * result.middle.labels_saved)
    assert result.middle.hours_saved == pytest.approx(result.middle.labels_saved / 20)


def test_a_larger_tolerance_covers_more_and_needs_less():
    strict, loose = (plan(20_000, 5, tolerance=e, pilot_accuracy=0.9, validation_budget=1500) for e in (0.03, 0.1))
    assert strict.middle.coverage < loose.middle.coverage
    assert strict.joint.at_least > loose.joint.at_least
    assert strict.per_class.at_least > loose.per_class.at_least


def test_a_good_pilot_narrows_the_range_and_a_bad_one_lowers_it():
    without, good = plan(50_000, 10), plan(50_000, 10, pilot=good_pilot(400))
    bad = plan(50_000, 10, pilot=good_pilot(400, accuracy=0.6, gap=0.5))
    assert good.high.coverage - good.low.coverage < without.high.coverage - without.low.coverage
    assert bad.high.coverage < without.middle.coverage
    assert (good.basis, good.pilot_points, without.basis) == ("pilot", 400, "assumptions")
    assert "pilot of 400 points" in " ".join(good.assumptions)
    assert "guesses" in " ".join(without.assumptions)


def test_recommended_validation_is_near_the_best():
    chosen = plan(20_000, 5, pilot_accuracy=0.9)
    labels = {n: plan(20_000, 5, pilot_accuracy=0.9, validation_budget=n).middle.machine_labels for n in (150, 15_000)}
    assert 150 < chosen.recommended_validation == chosen.validation_budget < 15_000
    assert chosen.middle.machine_labels > max(labels.values())


class TestCannotPay:
    @pytest.mark.parametrize("pool", [3, 40, 150])
    def test_no_number_of_labels_is_enough(self, pool):
        result = plan(pool, 2)
        assert result.verdict.status == "cannot"
        assert "no number of validation labels" in result.verdict.reasons[0]
        assert result.high.labels_saved == 0
        assert result.recommended_validation is None

    def test_pool_too_small_for_what_it_takes(self):
        result = plan(300, 10, pilot_accuracy=0.5)
        assert result.verdict.status == "cannot"
        assert f"{result.joint.at_least:,} would have to be validation labels" in result.verdict.reasons[0]

    def test_validation_budget_below_the_support(self):
        result = plan(50_000, 10, validation_budget=117)
        assert result.verdict.status == "cannot"
        assert "117 validation labels cannot certify" in result.verdict.reasons[0]
        assert "118" in result.verdict.reasons[0]

    def test_the_fewest_labels_are_enough_for_a_classifier_that_is_hardly_ever_wrong(self):
        result = plan(3964, 4, train_budget=500, validation_budget=118, pilot_accuracy=0.999)
        assert result.middle.coverage == result.coverage_limit
        assert result.verdict.status in ("pays", "likely")

    def test_the_fewest_labels_are_few_for_another(self):
        verdict = plan(3964, 4, validation_budget=118, pilot_accuracy=0.9).verdict
        assert verdict.status == "doubtful"
        assert "is not forecast to pay" in verdict.reasons[0]
        assert "118 are enough only if hardly any of them is wrong" in verdict.reasons[0]

    def test_a_hopeless_classifier(self):
        result = plan(5000, 10, pilot=good_pilot(200, accuracy=0.4, gap=0.0))
        assert (result.verdict.status, result.high.machine_labels) == ("cannot", 0)

    def test_it_pays_where_it_should(self):
        assert plan(100_000, 10, pilot=good_pilot(400, accuracy=0.97)).verdict.status == "pays"

    def test_more_spent_than_saved_is_said(self):
        reasons = plan(1797, 10, pilot_accuracy=0.92).verdict.reasons
        assert any("more than the" in reason and "by hand" in reason for reason in reasons)

    @pytest.mark.parametrize("pool", [400, 1797, 3964, 10_000, 50_000])
    @pytest.mark.parametrize("accuracy", [None, 0.8, 0.9, 0.97])
    def test_one_answer_does_not_advise_two_things(self, pool, accuracy):
        verdict = plan(pool, 4, pilot_accuracy=accuracy, price=0.08).verdict
        said = " ".join(verdict.reasons)
        pays = "forecast to pay" in said.replace("not forecast to pay", "") or "probably pay" in said
        assert pays == (verdict.status in ("pays", "likely"))
        assert not (pays and "by hand" in said)


class TestBudget:
    def test_adds_up(self):
        for budget in (300, 1000, 5000, 30_000):
            result = plan(50_000, 10, budget=budget)
            assert result.train_budget + result.validation_budget + result.audit_budget == budget
            assert result.train_budget >= budget / 3
            books_balance(result)

    def test_by_hand(self):
        assert split(3000, 10, support=117, recommended=3290, audit=227) == (1000, 1773, 227)
        assert split(9000, 10, support=117, recommended=3290, audit=227) == (5483, 3290, 227)
        assert split(300, 10, support=117, recommended=3290, audit=227) == (100, 117, 83)
        assert split(100, 10, support=117, recommended=3290, audit=227) == (34, 66, 0)

    @pytest.mark.parametrize(("support", "classes"), [(117, 10), (117, 200), (599, 2), (118, 59), (1, 1)])
    def test_least_budget(self, support, classes):
        least = least_budget(support, classes)
        assert split(least, classes, support, 10**6, 0)[1] >= support
        assert split(least - 1, classes, support, 10**6, 0)[1] < support

    def test_too_small(self):
        result = plan(50_000, 10, budget=100)
        assert result.verdict.status == "cannot"
        assert "needs 177 at the very least" in result.verdict.reasons[0]
        assert plan(50_000, 10, budget=177).validation_budget == result.joint.at_least


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pool_size": 0}, "pool_size must be a whole number from 2"),
        ({"pool_size": 10.5}, "got 10.5"),
        ({"pool_size": 5, "classes": 10}, "5 points and 10 classes"),
        ({"classes": 1}, "classes must be a whole number from 2"),
        ({"tolerance": 0}, "tolerance must lie strictly between 0 and 1"),
        ({"tolerance": float("nan")}, "got nan"),
        ({"delta": 1.0}, "delta must lie strictly between 0 and 1"),
        ({"candidates": 0}, "candidates must be a whole number from 1"),
        ({"price": -1}, "price .* above 0; got -1"),
        ({"minutes": float("inf")}, "minutes .* got inf"),
        ({"train_budget": 900, "validation_budget": 100}, "must leave points of the pool of 1,000"),
        ({"budget": 500, "train_budget": 100}, "Give one or the others"),
        ({"budget": 1000}, "smaller than the pool"),
        ({"budget": 3}, "exceed the number of classes"),
        ({"pilot_accuracy": 0}, "pilot_accuracy must lie above 0"),
        ({"pilot_accuracy": 0.9, "pilot": good_pilot()}, "not both"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_settings(wrong, said):
    with pytest.raises(ConfigurationError, match=said):
        plan(**{"pool_size": 1000, "classes": 3} | wrong)


class TestPilotFiles:
    @pytest.mark.parametrize(
        ("head", "row"),
        [
            ("score,correct", "{s},{c}"),
            ("id,predicted,correct,score", "a,b,{c},{s}"),
            ("\ufeffConfidence, Correct", "{s},{c}"),
        ],
    )
    @pytest.mark.parametrize("words", [("0", "1"), ("False", "True"), ("no", "YES"), ("0.0", "1.0")])
    def test_read(self, head, row, words, tmp_path):
        file = tmp_path / "pilot.csv"
        lines = [row.format(s=n / 100, c=words[n % 3 > 0]) for n in range(30)]
        file.write_text("\n".join([head, *lines]), encoding="utf-8")
        pilot = read_pilot(file)
        np.testing.assert_array_equal(pilot.scores, np.arange(30) / 100)
        np.testing.assert_array_equal(pilot.correct, np.arange(30) % 3 > 0)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "has none"),
            ("score,label\n0.5,1\n", "'score', 'label'"),
            ("score,correct\n0.5,1\nhigh,1\n", "'high' in row 2"),
            ("score,correct\nnan,1\n", "'nan' in row 1"),
            ("score,correct\n0.5\n", "None in row 1"),
            ("score,correct\n0.5,maybe\n", "'maybe' in row 1"),
            ("score,correct\n" + "0.5,1\n" * 19, "at least 20 points .* got 19"),
        ],
    )
    def test_unusable(self, text, said, tmp_path):
        file = tmp_path / "pilot.csv"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=said):
            plan(1000, 3, pilot=file)

    def test_missing_or_not_text(self, tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            plan(1000, 3, pilot=tmp_path / "none.csv")
        (tmp_path / "image.csv").write_bytes(b"\xff\xfe\x00\x81")
        with pytest.raises(DataError, match="cannot be read"):
            plan(1000, 3, pilot=tmp_path / "image.csv")

    def test_arrays_that_do_not_fit(self):
        with pytest.raises(DataError, match=r"\(30,\) and \(29,\)"):
            Pilot(np.zeros(30), np.ones(29, dtype=bool))
        with pytest.raises(DataError, match="for right"):
            Pilot(np.zeros(30), np.arange(30))
        with pytest.raises(DataError, match="1 are not"):
            Pilot(np.r_[np.zeros(29), np.nan], np.ones(30, dtype=bool))
