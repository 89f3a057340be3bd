"""docs/results.md says what the results say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.testing.compare import compare_images

from experiments.paper import appendix_tables, claims, document, figures, hyperparameters, leak, rerun, rounds, table
from experiments.paper.configuration import ANCHORED, CONFIDENCES, DATASETS, RULES, TRAININGS, protocol
from experiments.paper.figures import exhibits
from experiments.paper.renewal import renew
from experiments.paper.store import AGAIN, RUNS, Store, key_again

DOCS = Path(__file__).parents[2] / "docs"
POOL = 10_000_000
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def record(seed: int, coverage: float = 0.5, error: float | None = 0.04, **others: Any) -> dict[str, Any]:
    """One run; each call has a key of its own unless one is given."""
    machine_labels = 0 if error is None else round(POOL * coverage)
    told = {
        "dataset": "newsgroups20",
        "training": "vanilla",
        "confidence": "softmax",
        "thresholds": "paper",
        "version": "0.0",
        "seed": seed,
        "changes": {},
        "classifier_parameters": {"learning_rate": 0.01},
        "confidence_parameters": {},
        "machine_labels": machine_labels,
        "wrong": round((error or 0) * machine_labels),
        "coverage": coverage,
        "device": "CPU",
        "rounds": [{"train_points": 400, "labelled": 10, "wrong": 1}],
        "fallback_rounds": 0,
    } | others
    return {"key": repr(sorted(told.items(), key=lambda item: item[0])), **told}


DONE = {"device": "H200", "version": "0.1"}
ONCE_MORE = {**DONE, "date": "later"}
OTHERWISE = {"device": "CPU", "version": "0.2"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


def cell(store: Store, **wanted: Any) -> table.Cell:
    name = table.CellName(*({"training": "vanilla", "confidence": "softmax", "thresholds": "paper"} | wanted).values())
    return table.cells(table.runs(store, "newsgroups20"))[name]


class TestCommittedDocument:
    def test_it_is_what_the_results_give(self) -> None:
        assert (DOCS / document.NAME).read_text(encoding="utf-8") == document.render(Store())

    def test_every_image_is_there(self) -> None:
        links = IMAGE.findall((DOCS / document.NAME).read_text(encoding="utf-8"))
        assert links
        assert [link for link in links if not (DOCS / link).is_file()] == []

    def test_every_figure_is_what_the_results_give(self, tmp_path: Path) -> None:
        drawn = figures.draw(Store(), tmp_path)
        assert {path.name for path in drawn} == {path.name for path in (DOCS / document.FIGURES).glob("*.png")}
        differ = [compare_images(str(DOCS / document.FIGURES / path.name), str(path), tol=0.02) for path in drawn]
        assert [message for message in differ if message] == []  # one run of another coverage moves a point: 0.15

    def test_every_link_into_the_page_has_its_heading(self) -> None:
        text = document.render(Store())
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


class TestAggregation:
    def test_means_and_sample_deviations(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0, 0.4, 0.02), record(1, 0.5, 0.05), record(2, 0.6, 0.08)])
        found = cell(store)
        assert found.error is not None
        assert found.error[:2] == pytest.approx((0.05, 0.03))
        assert found.coverage[:2] == pytest.approx((0.5, 0.1))
        assert found.texts == ("5.0 ± 3.0", "50.0 ± 10.0", "2/3")

    def test_an_error_of_exactly_the_tolerance_is_within(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0, error=0.05), record(1, error=0.050001)])
        assert cell(store).within == 1

    def test_one_seed_has_no_deviation(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0, 0.4, 0.06)])
        assert cell(store).texts == ("6.0", "40.0", "0/1")

    def test_seeds_that_label_nothing_have_coverage_and_no_error(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0, 0.4, 0.06), record(1, 0.0, None)])
        assert cell(store).texts == ("6.0 (1 of 2)", "20.0 ± 28.3", "1/2")
        store.add("runs", "newsgroups20", [record(seed, 0.0, None, confidence="colander") for seed in range(3)])
        silent = cell(store, confidence="colander")
        assert silent.texts == ("–", "0.0 ± 0.0", "3/3")
        assert not silent.keeps_tolerance

    def test_a_run_done_again_counts_once(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0, 0.4, key="first"), record(0, 0.6, key="second")])
        assert cell(store).seeds == 1
        assert cell(store).coverage.mean == 0.6

    def test_runs_with_former_parameters_do_not_count(self, store: Store) -> None:
        new = {"classifier_parameters": {"learning_rate": 0.1}}
        store.add("runs", "newsgroups20", [record(0, 0.1), record(1, 0.1), record(0, 0.7, **new)])
        assert cell(store).seeds == 1
        assert cell(store).coverage.mean == 0.7

    def test_runs_of_a_sweep_are_not_in_the_table(self, store: Store) -> None:
        usual = protocol("newsgroups20").train_budget
        store.add(
            "runs",
            "newsgroups20",
            [
                record(0, 0.5),
                record(1, 0.3, changes={"train_budget": usual}),
                record(2, 0.9, changes={"train_budget": 400}),
            ],
        )
        assert cell(store).seeds == 2  # a change to what is usual is none

    def test_a_sweep_takes_the_usual_value_from_the_table(self, store: Store) -> None:
        plan = protocol("newsgroups20").sweeps["train_budget"]
        runs = [record(seed, 0.5, training="squentropy") for seed in range(plan.seeds + 2)]
        runs += [record(0, 0.3, training="squentropy", changes=plan.changes(min(plan.values)))]
        store.add("runs", "newsgroups20", runs)
        (points,) = table.sweep(store, "newsgroups20", "train_budget").values()
        assert {value: found.coverage.mean for value, found in points.items()} == {
            min(plan.values): 0.3,
            max(plan.values): 0.5,
        }

    def test_points_of_a_sweep_have_the_same_seeds(self, store: Store) -> None:
        plan = protocol("newsgroups20").sweeps["features"]  # of several seeds
        assert plan.seeds > 1
        logits = {"changes": plan.changes("logits"), "training": "squentropy", "confidence": "colander"}
        usual = logits | {"changes": {}}
        runs = [record(seed, 0.1 + 0.2 * seed, **usual) for seed in range(plan.seeds)]
        store.add("runs", "newsgroups20", [*runs, record(1, 0.6, **logits), record(plan.seeds, 0.9, **logits)])
        (points,) = table.sweep(store, "newsgroups20", "features").values()
        found = {value: (one.seeds, one.coverage.mean) for value, one in points.items()}
        assert found == {"concat": (1, pytest.approx(0.3)), "logits": (1, pytest.approx(0.6))}


class TestRoundsAsPrinted:
    def runs(self, seeds: int, coverage: float, error: float | None, **others: Any) -> list[dict[str, Any]]:
        plan = protocol("cifar10").sweeps["next_batch"]
        return [
            record(seed, coverage, error, dataset="cifar10", training=training, confidence=confidence, **others)
            for training in plan.trainings
            for confidence in plan.confidences
            for seed in range(seeds)
        ]

    def test_ours_beside_those_of_the_paper_by_the_same_seeds(self, store: Store) -> None:
        plan = protocol("cifar10").sweeps["next_batch"]
        store.add("runs", "cifar10", self.runs(plan.seeds, 0.2, 0.05, changes=plan.changes(plan.values[0])))
        store.add("runs", "cifar10", self.runs(plan.seeds, 0.1, 0.03))
        store.add("runs", "cifar10", [record(plan.seeds, 0.9, 0.3, dataset="cifar10")])
        rows = rounds.rows(store)
        facts = rounds.facts([row for row in rows if row.confidence == "softmax"])
        assert facts is not None
        assert facts.methods == ["Softmax"]
        assert (facts.runs, facts.within, facts.empty) == (2 * plan.seeds, (2 * plan.seeds, 2 * plan.seeds), (0, 0))
        assert facts.off_print.coverage == pytest.approx((0.2 - 0.212, 0.2 - 0.14))  # printed: 14.0 and 21.2 %
        assert facts.off_print.error == pytest.approx((0.05 - 0.052, 0.05 - 0.048))
        assert facts.gained.coverage == pytest.approx((0.1, 0.1))
        assert facts.gained.error == pytest.approx((0.02, 0.02))

    def test_runs_that_label_nothing_are_within_and_empty(self, store: Store) -> None:
        plan = protocol("cifar10").sweeps["next_batch"]
        store.add("runs", "cifar10", self.runs(plan.seeds, 0.2, 0.06, changes=plan.changes(plan.values[0])))
        store.add("runs", "cifar10", self.runs(plan.seeds, 0.0, None))
        facts = rounds.facts(rounds.rows(store))
        assert facts is not None
        assert facts.within == facts.empty == (facts.runs, 0)
        assert facts.gained.error is None

    def test_nothing_is_said_while_some_are_missing(self, store: Store) -> None:
        store.add("runs", "cifar10", self.runs(1, 0.1, 0.03))
        rows = rounds.rows(store)
        assert rounds.facts(rows) is None
        assert table.NOT_RUN in appendix_tables.rounds_table(rows)


class TestTables:
    def test_what_was_not_run_is_said(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0)])
        lines = table.main_table(store, "newsgroups20").splitlines()
        softmax, temperature = lines[2], lines[3]
        assert softmax.count(table.NOT_RUN) == 3  # under the other rule
        assert temperature.count(table.NOT_RUN) == 6
        assert "9.7 ± 0.6 | 60.7 ± 2.3" in temperature  # printed

    def test_bold_is_the_most_coverage_within_the_tolerance(self, store: Store) -> None:
        runs = [
            record(0, 0.5, 0.04),
            record(0, 0.6, 0.05, confidence="temperature"),
            record(0, 0.9, 0.06, confidence="colander"),
        ]
        store.add("runs", "newsgroups20", runs)
        text = table.main_table(store, "newsgroups20")
        assert "**60.0**" in text
        assert "**90.0**" not in text

    def test_what_was_tried(self, store: Store) -> None:
        def search(confidence: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
            return {"key": confidence, "training": "vanilla", "confidence": confidence, "table": rows}

        store.add("searches", "mnist", [search("softmax", [{"phase": "training", "learning_rate": 0.1}])])
        rows = [{"phase": "confidence", "penalty": penalty, "alpha": 1.0} for penalty in (100, 10)]
        rows.append({"phase": "training", "learning_rate": 0.01})
        store.add("searches", "newsgroups20", [search("colander", rows)])
        lines = hyperparameters.tried_table(store).splitlines()
        assert "| classifier | lr 0.01, 0.1 |" in lines
        assert "| Colander | λ 10, 100 |" in lines  # α has a single value
        assert f"| Dirichlet | {table.NOT_RUN} |" in lines

    def test_who_made_what(self, store: Store) -> None:
        plan = protocol("newsgroups20").sweeps["train_budget"]
        store.add("runs", "newsgroups20", [record(0, **DONE), record(1, **DONE), record(2, **OTHERWISE)])
        store.add("runs", "newsgroups20", [record(0, changes=plan.changes(plan.values[0]), **OTHERWISE)])
        line = next(line for line in appendix_tables.machines_table(store).splitlines() if "20 Newsgroups" in line)
        assert line == f"| 20 Newsgroups | CPU, 0.2: 1; H200, 0.1: 2 | {table.NOT_RUN} | CPU, 0.2: 1 |"

    def test_an_error_is_not_rounded_twice(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0, machine_labels=9_229, wrong=383)])  # 4.14996 %
        assert cell(store).texts[0] == "4.1"

    def test_what_the_authors_code_gave(self) -> None:
        text = appendix_tables.released_code_table()
        assert text.count("@") == len(appendix_tables.RELEASED_CODE.read_text(encoding="utf-8").splitlines()) - 1
        assert "| CIFAR-10 | 4 rounds | 6.0 @ 4.7 | not run | 67.3 @ 2.3 | 0.7 @ 22, stopped after 2 rounds |" in text

    def test_an_error_of_a_single_round_says_over_how_many_seeds(self) -> None:
        of = {"seeds": [0, 1, 2], "coverage": 0.2, "auroc": 0.7}
        found = {
            "softmax": of | {"error": 0.1, "errors": [0.1, None, None]},
            "temperature": of | {"error": None, "errors": [None] * 3},
        }
        softmax, temperature = appendix_tables.single_round_table(found).splitlines()[2:]
        assert "| 10.0 (1 of 3) | 20.0 |" in softmax
        assert "| – | 20.0 |" in temperature

    def test_printed_numbers_are_complete(self) -> None:
        rows = {(training, confidence) for training in TRAININGS for confidence in CONFIDENCES}
        assert {dataset: set(found) for dataset, found in table.printed().items()} == dict.fromkeys(DATASETS, rows)

    @pytest.mark.parametrize(("share", "text"), [(0.0312, "+3.1"), (-0.0312, "−3.1"), (-0.0001, "0.0")])
    def test_differences_have_a_sign(self, share: float, text: str) -> None:
        assert appendix_tables.points(share) == text


class TestClaims:
    def test_of_the_printed_table(self) -> None:
        for column in table.printed().values():
            facts = claims.claim(column)
            assert (facts.trainings, facts.best, facts.improved) == (4, 4, 4)

    def test_more_coverage_beyond_the_tolerance_is_no_improvement(self, store: Store) -> None:
        store.add("runs", "newsgroups20", everything("newsgroups20", colander=(0.9, 0.2)))
        facts = claims.claim(claims.under_rule(table.runs(store, "newsgroups20"), "paper"))
        assert (facts.within, facts.best, facts.improved, facts.covers_more) == (0, 0, 0, 4)
        assert facts.gain == pytest.approx((0.4, 0.4))

    def test_only_complete_trainings_are_compared(self, store: Store) -> None:
        runs = everything("newsgroups20", colander=(0.9, 0.01))
        store.add(
            "runs", "newsgroups20", [run for run in runs if (run["training"], run["confidence"]) != ("crl", "softmax")]
        )
        facts = claims.claim(claims.under_rule(table.runs(store, "newsgroups20"), "paper"))
        assert (facts.trainings, facts.best) == (3, 3)

    def test_pairs_have_the_same_seed(self, store: Store) -> None:
        runs = [
            record(0, 0.5),
            record(1, 0.5),
            record(0, 0.6, confidence="colander"),
            record(2, 0.6, confidence="colander"),
        ]
        store.add("runs", "newsgroups20", runs)
        assert claims.pairs(table.runs(store, "newsgroups20"), "paper") == (1, 1)

    def test_runs_that_label_nothing_are_counted_apart(self, store: Store) -> None:
        silent = [record(seed, 0.0, None, confidence="colander") for seed in range(2)]
        store.add("runs", "newsgroups20", [record(0, 0.5, 0.04), record(1, 0.0, None), *silent])
        facts = claims.rule_facts(claims.under_rule(table.runs(store, "newsgroups20"), "paper"))
        assert (facts.runs, facts.within, facts.empty, facts.cells, facts.cells_within) == (4, 4, 3, 1, 1)

    def test_distance_from_print(self, store: Store) -> None:
        store.add("runs", "newsgroups20", [record(0, 0.5, 0.04), record(0, 0.5, 0.04, training="crl")])
        column = claims.under_rule(table.runs(store, "newsgroups20"), "paper")
        found = claims.off_print(column, table.printed()["newsgroups20"], ["softmax"])
        assert found.coverage == pytest.approx((0.5 - 0.483, 0.5 - 0.482))  # printed: 48.2 and 48.3 %
        assert found.error == pytest.approx((0.04 - 0.060, 0.04 - 0.058))
        assert claims.off_print(column, table.printed()["newsgroups20"], ["colander"]).coverage is None

    def test_calibration_against_softmax(self, store: Store) -> None:
        runs = [
            record(0, 0.5, 0.04),
            record(0, 0.6, 0.05, confidence="temperature"),
            record(0, 0.4, 0.05, confidence="dirichlet"),
            record(0, 0.0, None, confidence="scaling-binning"),
            record(0, 0.9, 0.01, confidence="colander"),
        ]
        store.add("runs", "newsgroups20", runs)
        columns = {"newsgroups20": claims.under_rule(table.runs(store, "newsgroups20"), "paper")}
        assert claims.calibration(columns) == claims.CalibrationFacts((1, 3), (2, 2))

    def test_the_training_that_covers_most(self, store: Store) -> None:
        runs = [record(0, 0.5 + 0.1 * (one == "squentropy"), training=one) for one in TRAININGS]
        runs += [record(0, 0.0, None, training=one, confidence="colander") for one in TRAININGS]
        store.add("runs", "newsgroups20", [*runs, record(0, 0.9, training="squentropy", confidence="temperature")])
        columns = {"newsgroups20": claims.under_rule(table.runs(store, "newsgroups20"), "paper")}
        assert claims.covers_most(columns) == (1, 2)
        assert claims.covers_most(columns, "vanilla") == (0, 2)

    def test_a_trend_over_all_values(self, store: Store) -> None:
        plan = protocol("newsgroups20").sweeps["train_budget"]
        for confidence, coverages in (("softmax", (0.1, 0.2, 0.3, 0.4, 0.5)), ("colander", (0.2, 0.2, 0.2, 0.2, 0.6))):
            store.add(
                "runs",
                "newsgroups20",
                [
                    record(0, each, 0.02, training="squentropy", confidence=confidence, changes=plan.changes(value))
                    for value, each in zip(plan.values, coverages, strict=True)
                ],
            )
        store.add("runs", "newsgroups20", [record(0, training="squentropy", confidence="dirichlet")])
        found = claims.trends(store, "newsgroups20", "train_budget")
        assert set(found) == {"softmax", "colander"}  # not what was run at one value alone
        assert found["colander"].ahead_of(found["softmax"]) == 2
        assert claims.most_of_all([found]) == claims.most_of_all([found, {}]) == (2, 5)
        assert claims.most_of_all([found], "softmax") == (2, 5)  # at one they are level
        assert found["colander"].coverage_rises
        assert not found["colander"].error_rises

    def test_what_crl_and_fmfp_gain_with_and_without_training_errors(self, store: Store) -> None:
        runs = [record(0, 0.5), record(0, 0.6, training="crl"), record(0, 0.3, training="fmfp")]
        store.add("runs", "newsgroups20", runs)
        columns = {"newsgroups20": claims.under_rule(table.runs(store, "newsgroups20"), "paper")}
        errors = {"vanilla": 0.0, "crl": 0.0, "fmfp": 0.55}
        trained = {"newsgroups20": {one: {"training_error": e, "auroc": 0.8} for one, e in errors.items()}}
        facts = claims.ranking(columns, trained)
        assert (facts.trained, facts.without_mistakes) == (2, 1)
        assert facts.gain_without_mistakes == pytest.approx((0.1, 0.1))
        assert facts.gain_with_mistakes == pytest.approx((-0.2, -0.2))
        assert facts.untrained == [("newsgroups20", "fmfp", 0.55)]


class TestSentencesThatNoNumberChooses:
    """They stand in the template as they are, so the committed results have to bear them out."""

    @pytest.mark.parametrize("dataset", ["cifar10", "newsgroups20"])
    def test_softmax_is_level_over_nu_but_where_the_table_is(self, dataset: str) -> None:
        (points,) = (
            points
            for name, points in table.sweep(Store(), dataset, "calibration_fraction").items()
            if name.confidence == "softmax"
        )
        at_half = points.pop(0.5).coverage.mean
        (elsewhere,) = {cell.coverage.mean for cell in points.values()}
        assert at_half != elsewhere

    def test_on_mnist_softmax_is_close_to_print_and_calibration_is_not(self) -> None:
        ours, printed = claims.under_rule(table.runs(Store(), "mnist"), "paper"), table.printed()["mnist"]
        off = {name: 100 * (ours[name].coverage.mean - cell.coverage.mean) for name, cell in printed.items()}
        calibration = [gap for (_, confidence), gap in off.items() if confidence not in ("softmax", "colander")]
        assert all(abs(gap) < 3 for (_, confidence), gap in off.items() if confidence == "softmax")
        assert len(calibration) == 16
        assert max(calibration) < -10

    @pytest.mark.parametrize(("dataset", "flat"), [("mnist", 1.0), ("cifar10", 0.6)])
    def test_g_hardly_differs_between_points_of_a_class(self, dataset: str, flat: float) -> None:
        (found,) = (
            r for r in Store().read(leak.KIND, dataset) if (r["way"], r["seed"]) == ("honest", exhibits.LEAK_SEED)
        )
        scores, predicted = (np.array(found["first_round"][name]) for name in ("scores", "predicted"))
        spreads = np.array([np.ptp(scores[predicted == code]) for code in np.unique(predicted)])
        assert (spreads < 0.1).mean() >= flat


class TestTheSameOnceMore:
    def compared(self, store: Store, *again: dict[str, Any]) -> rerun.Comparison:
        first = [record(0, 0.4, 0.02, **DONE), record(1, 0.5, 0.04, **DONE), record(2, 0.6, 0.06, **DONE)]
        store.add(RUNS, "newsgroups20", first)
        store.add(AGAIN, "newsgroups20", again)
        (found,) = rerun.comparisons(store)
        return found

    def test_a_cell_that_moved_by_less_than_its_spread_matches(self, store: Store) -> None:
        again = [record(0, 0.4, 0.02, **OTHERWISE), record(1, 0.6, 0.06, **OTHERWISE)]
        found = self.compared(store, *again)
        assert (found.matching, found.cells, found.identical, found.runs) == (1, 1, 1, 2)
        assert found.coverage == pytest.approx((0.45, 0.5))
        assert found.error == pytest.approx((0.03, 0.04))
        assert (found.in_table, found.beside) == ("H200, 0.1", "CPU, 0.2")

    @pytest.mark.parametrize(("coverage", "error"), [(0.55, 0.02), (0.4, 0.05), (0.0, None)])
    def test_one_that_moved_further_does_not(self, store: Store, coverage: float, error: float | None) -> None:
        found = self.compared(store, record(0, coverage, error, **OTHERWISE))
        assert (found.matching, found.cells, found.identical, found.runs) == (0, 1, 0, 1)
        assert found.empty == (error is None)

    def test_only_what_the_table_has_too_is_compared(self, store: Store) -> None:
        other = {"confidence_parameters": {"alpha": 1.0}}
        found = self.compared(
            store,
            record(0, 0.4, 0.02, **ONCE_MORE),
            record(7, 0.9, **ONCE_MORE),
            record(0, confidence="colander", **ONCE_MORE),
        )
        assert (found.cells, found.runs, found.identical) == (1, 1, 1)
        store.add(RUNS, "newsgroups20", [record(0, thresholds="certified", **DONE)])
        store.add(AGAIN, "newsgroups20", [record(0, thresholds="certified", **other, **DONE)])
        assert rerun.comparisons(store) == [found]  # parameters were chosen anew

    def test_each_machine_and_version_is_compared_for_itself(self, store: Store) -> None:
        other = self.compared(store, record(0, 0.9, 0.02, **OTHERWISE))
        store.add(AGAIN, "newsgroups20", [record(0, 0.4, 0.02, **ONCE_MORE)])
        by_other, by_same = rerun.comparisons(store)
        assert by_other == other
        assert (by_same.beside, by_same.identical, by_same.matching) == ("H200, 0.1", 1, 1)
        ((name, _),) = by_other.moved
        assert by_other.elsewhere([by_other, by_same], name) == [("H200, 0.1", by_same.others[name])]
        assert by_same.elsewhere([by_other, by_same], name) == [("CPU, 0.2", by_other.others[name])]

    def test_what_the_page_says_of_runs_that_are_not_alike(self) -> None:
        store = Store()
        posts, by_first_version = (
            table.runs(store, "newsgroups20"),
            [run for run in store.read(AGAIN, "newsgroups20") if run["version"] == "0.1.0"],
        )
        differ = {
            name.confidence
            for name, others in table.by_cell(by_first_version).items()
            for seed, other in others.items()
            if posts[name][seed]["device"] == other["device"] and posts[name][seed]["wrong"] != other["wrong"]
        }
        assert differ == {"colander"}

    def test_networks_trained_alone_cover_less(self) -> None:
        """Runs side by side share their seconds evenly, which tells who was beside whom."""
        store = Store()
        own = table.runs(store, "cifar10")
        alone: dict[float, set[int]] = {}
        together: dict[float, set[int]] = {}
        gained: dict[int, list[float]] = {}
        for run in store.read(AGAIN, "cifar10"):
            if (run["version"], run["training"]) == ("0.5.0", "vanilla"):
                before = own[table.CellName(run["training"], run["confidence"], run["thresholds"])][run["seed"]]
                alone.setdefault(run["seconds"], set()).add(run["seed"])
                together.setdefault(before["seconds"], set()).add(run["seed"])
                gained.setdefault(run["seed"], []).append(run["coverage"] - before["coverage"])
        assert {len(seeds) for seeds in alone.values()} == {1}
        assert {len(seeds) for seeds in together.values()} == {2, 3}
        assert len(gained) == 5
        assert all(np.mean(differences) < 0 for differences in gained.values())

    def test_how_often_a_cell_fails_by_chance(self) -> None:
        rng = np.random.default_rng(0)
        before, after = rng.normal(size=(2, 20_000, 5))
        fail = np.abs(after.mean(axis=1) - before.mean(axis=1)) > before.std(axis=1, ddof=1)
        assert rerun.fails_by_chance(5) == pytest.approx(fail.mean(), abs=0.01)

    def test_nothing_again_is_said(self, store: Store) -> None:
        assert rerun.comparisons(store) == []


OLD = {"device": "H200", "version": "0.9.0"}


class TestRenewal:
    """Keys tell which run of the table was run again."""

    def again(self, run: dict[str, Any], device: str, version: str, **changed: Any) -> dict[str, Any]:
        made = {"device": device, "version": version}
        return {**run, **made, **changed, "key": key_again(run["key"], **made)}

    def test_the_newest_is_in_the_table_and_the_others_beside_it(self, store: Store) -> None:
        runs = [record(seed, 0.4, 0.02, **OLD) for seed in (0, 1)]
        newer = self.again(runs[0], "CPU", "0.10.0", coverage=0.5)
        store.add(RUNS, "newsgroups20", runs)
        store.add(AGAIN, "newsgroups20", [self.again(runs[0], "CPU", "0.9.1", coverage=0.6), newer])
        assert renew(store, ["newsgroups20"]) == 1
        first, second = store.read(RUNS, "newsgroups20")
        assert first == {**newer, "key": runs[0]["key"]}
        assert second == runs[1]
        found = rerun.comparisons(store)  # the newest is not compared with itself
        assert [(one.in_table, one.beside) for one in found] == [
            ("CPU, 0.10.0", "CPU, 0.9.1"),
            ("CPU, 0.10.0", "H200, 0.9.0"),
        ]
        assert [one.coverage for one in found] == [pytest.approx((0.5, 0.6)), pytest.approx((0.5, 0.4))]
        assert renew(store, ["newsgroups20"]) == 0

    def test_another_machine_with_the_same_version_replaces_nothing(self, store: Store) -> None:
        run = record(0, 0.4, 0.02, **OLD)
        store.add(RUNS, "newsgroups20", [run])
        store.add(AGAIN, "newsgroups20", [self.again(run, "CPU", "0.9.0", coverage=0.5)])
        assert renew(store, ["newsgroups20"]) == 0
        assert store.read(RUNS, "newsgroups20") == [run]

    def test_killed_in_between_nothing_is_lost_and_nothing_is_there_twice(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = record(0, 0.4, 0.02, **OLD)
        same_maker = self.again(run, **OLD, coverage=0.45)
        store.add(RUNS, "newsgroups20", [run])
        store.add(AGAIN, "newsgroups20", [same_maker, self.again(run, "CPU", "0.10.0", coverage=0.5)])
        with monkeypatch.context() as killed:
            add = Store.add
            killed.setattr(Store, "add", lambda self, kind, *rest: 1 / 0 if kind == RUNS else add(self, kind, *rest))
            with pytest.raises(ZeroDivisionError):
                renew(store, ["newsgroups20"])
        assert renew(store, ["newsgroups20"]) == 1
        assert [run["coverage"] for run in store.read(RUNS, "newsgroups20")] == [0.5]
        assert sorted(run["coverage"] for run in store.read(AGAIN, "newsgroups20")) == [0.4, 0.45, 0.5]


class TestRendering:
    def test_shows_every_figure_that_is_drawn(self, store: Store, tmp_path: Path) -> None:
        plan = protocol("newsgroups20").sweeps["train_budget"]
        swept = [record(0, training="squentropy", changes=plan.changes(value)) for value in plan.values]
        store.add("runs", "newsgroups20", [*everything("newsgroups20", colander=(0.6, 0.06)), *swept])
        drawn = figures.draw(store, tmp_path / document.FIGURES)
        assert {str(path.relative_to(tmp_path)) for path in drawn} == set(IMAGE.findall(document.render(store)))
        assert all(path.stat().st_size for path in drawn)

    def test_without_any_result(self, store: Store) -> None:
        text = document.render(store)
        assert IMAGE.findall(text) == [f"{document.FIGURES}/{exhibits.SURROGATES}"]  # it needs no results
        ours = [line.split(" | ")[4:] for line in text.splitlines() if line.startswith("| Vanilla | Softmax")]
        assert {value.strip(" |") for values in ours for value in values} == {table.NOT_RUN}

    @pytest.mark.parametrize(
        ("colander", "sentence"),
        [
            ((0.9, 0.01), "**C1, Colander beats the other confidence functions: under `paper`, it holds.**"),
            ((0.9, 0.20), "**C1, Colander beats the other confidence functions: under `paper`, it does not hold.**"),
            ((0.0, None), "it labels nothing at all"),
        ],
    )
    def test_sentences_follow_the_numbers(
        self, store: Store, colander: tuple[float, float | None], sentence: str
    ) -> None:
        store.add("runs", "newsgroups20", everything("newsgroups20", colander))
        assert sentence in " ".join(document.render(store).split())

    def test_paragraphs_are_filled_and_well_spaced(self, store: Store) -> None:
        for dataset in DATASETS:
            store.add("runs", dataset, everything(dataset, colander=(0.6, 0.06)))
        prose = [line for line in document.render(store).splitlines() if not line.startswith(("|", "!", "python"))]
        assert max(map(len, prose)) <= 120
        assert [line for line in prose if re.search(r"\S  |\s[.,;](\s|$)|[a-z)]\.[A-Z]", line)] == []

    def test_writes_beside_the_figures(self, store: Store, tmp_path: Path) -> None:
        path = document.write(store, tmp_path)
        assert path == tmp_path / "results.md"
        assert path.read_text(encoding="utf-8").startswith("# ")


def everything(dataset: str, colander: tuple[float, float | None]) -> list[dict[str, Any]]:
    """Two seeds of every cell of a dataset, all alike but for the printed form of Colander."""
    return [
        record(
            seed,
            *(colander if confidence == "colander" else (0.5, 0.04)),
            dataset=dataset,
            training=training,
            confidence=confidence,
            thresholds=rule,
        )
        for training in TRAININGS
        for confidence in (*CONFIDENCES, ANCHORED)
        for rule in RULES
        for seed in (0, 1)
    ]
