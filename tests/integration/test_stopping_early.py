"""A run that may stop asking early asks for less where that is enough, and for all it may where it is not."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier

import labelsieve as ls
from labelsieve.engine.settings import checked_settings
from labelsieve.errors import AnnotatorError, ConfigurationError
from labelsieve.reports.files import write_report
from labelsieve.store.database import Database
from labelsieve.store.journal import journalled, replayed
from tests.integration.test_resume import Tiring

NO_LONGER_PAYS = "asking for more labels no longer pays"
SETTINGS = {
    "train_budget": 400, "seed_size": 60, "batch_size": 20, "validation_budget": 200, "classes": 4,
    "classifier": "logistic", "query": "random", "stop_early": True, "progress": False,
}  # fmt: skip


def problem(spread: float, hopeless: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Four classes in four corners; a part of the points lies in the middle and could be of any."""
    corners = np.array([[0, 0], [0, 8], [8, 0], [8, 8]])
    x, y = make_blobs(n_samples=2000, centers=corners, cluster_std=spread, random_state=3)
    rng = np.random.default_rng(3)
    lost = rng.uniform(size=len(y)) < hopeless
    return np.where(lost[:, None], rng.normal(4, 0.7, size=x.shape), x), np.where(lost, rng.integers(4, size=2000), y)


EASY, PARTLY, HARD = problem(1.0), problem(1.0, 0.1), problem(9.0)


def run_on(data, annotator=None, **settings) -> ls.Run:
    x, y = data
    return ls.autolabel(x, annotator or ls.SimulatedAnnotator(y), **SETTINGS | settings)


def expected(run: ls.Run) -> list[float | None]:
    return [report.expected_machine_labels for report in run.rounds]


def trained_with(run: ls.Run) -> int:
    return run.rounds[-1].train_points


@pytest.mark.parametrize("data", [EASY, PARTLY], ids=["easy", "partly"])
@pytest.mark.parametrize("validation_reuse", ["fresh", "folds"])
def test_certified_runs_stop_when_the_machine_can_do_the_rest(data, validation_reuse):
    whole, stopped = (run_on(data, validation_reuse=validation_reuse, stop_early=early) for early in (False, True))
    assert trained_with(whole) == 400
    assert trained_with(stopped) < 400
    assert stopped.human_labels < whole.human_labels
    assert stopped.machine_labels > whole.machine_labels
    assert stopped.stop_reason == (NO_LONGER_PAYS if len(stopped.ledger.state.unlabelled()) else "the pool is empty")
    assert stopped.evaluate(data[1]).error <= 0.05
    assert expected(whole) == [None] * len(whole.rounds)
    tests = [report.threshold_points for report in stopped.rounds]
    assert tests[-1] > 0
    assert not any(tests[:-1])
    assert expected(stopped)[-1] == pytest.approx(stopped.machine_labels, rel=0.15)


def test_under_the_papers_rule_every_round_labels_and_it_stops_all_the_same():
    whole, stopped = (run_on(PARTLY, thresholds="paper", stop_early=early) for early in (False, True))
    assert stopped.stop_reason == NO_LONGER_PAYS
    assert trained_with(stopped) < trained_with(whole)
    assert stopped.machine_labels >= whole.machine_labels


@pytest.mark.parametrize("thresholds", ["certified", "paper"])
def test_hard_data_take_the_whole_budget(thresholds):
    run = run_on(HARD, thresholds=thresholds)
    assert trained_with(run) == 400
    assert run.stop_reason != NO_LONGER_PAYS


def test_the_round_that_tests_has_the_model_that_was_judged(monkeypatch):
    """One classifier and four for cross-fitting in each round, the last one included."""
    fits = []
    performed = ls.engine.requests.TrainClassifier.perform
    monkeypatch.setattr(
        "labelsieve.engine.requests.TrainClassifier.perform",
        lambda self, progress: fits.append(len(self.y)) or performed(self, progress),
    )
    run = run_on(PARTLY)
    assert len(fits) == 5 * len(run.rounds)
    assert fits.count(trained_with(run)) == 1


@pytest.mark.parametrize("patience", [7, 35, 150])
@pytest.mark.parametrize("thresholds", ["certified", "paper"])
def test_interrupted_again_and_again_it_decides_the_same(thresholds, patience, tmp_path):
    whole = run_on(PARTLY, thresholds=thresholds)
    annotator, run = Tiring(PARTLY[1], patience), None
    with Database(tmp_path / "project.sqlite", make=True) as database:
        while run is None:
            with suppress(AnnotatorError):  # each time from what is on disk
                run = run_on(PARTLY, annotator, thresholds=thresholds, ledger=journalled(database))
        kept = [report.expected_machine_labels for report in replayed(database).rounds]
    assert_frame_equal(run.labels, whole.labels)
    assert run.stop_reason == whole.stop_reason == NO_LONGER_PAYS
    assert expected(run) == expected(whole) == kept


@pytest.mark.parametrize("thresholds", ["certified", "paper"])
def test_going_on_with_a_run_that_has_stopped_asks_for_nothing(thresholds):
    stopped, annotator = run_on(PARTLY, thresholds=thresholds), ls.SimulatedAnnotator(PARTLY[1])
    again = run_on(PARTLY, annotator, thresholds=thresholds, ledger=stopped)
    assert annotator.asked == []
    assert again.stop_reason == NO_LONGER_PAYS


def test_under_the_papers_rule_a_run_that_has_stopped_can_be_made_to_go_on():
    stopped = run_on(PARTLY, thresholds="paper")
    assert trained_with(run_on(PARTLY, thresholds="paper", ledger=stopped, stop_early=False)) > trained_with(stopped)


def test_no_validation_label_has_a_say_in_when_to_test():
    x, y = PARTLY
    asked = []
    for given in (y[:400], np.random.default_rng(0).permutation(y[:400])):
        annotator = ls.SimulatedAnnotator(y[400:])
        run = run_on((x[400:], y[400:]), annotator, validation=(x[:400], given))
        asked.append((annotator.asked, expected(run)))
    assert trained_with(run) < 400
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    "confidence", ["softmax", "temperature", "colander-evidence", ls.confidence.Evidence(folds=0)], ids=str
)
def test_a_confidence_function_that_has_no_idea_is_refused_before_anybody_is_asked(confidence):
    annotator = ls.SimulatedAnnotator(EASY[1])
    with pytest.raises(ConfigurationError, match=r"stop_early needs .* 'auto' or 'evidence'; got .*Use confidence="):
        run_on(EASY, annotator, confidence=confidence)
    assert annotator.asked == []


def test_several_certified_rounds_are_refused():
    with pytest.raises(ConfigurationError, match=r"one certified test .* got certified_rounds=2\. Use"):
        run_on(EASY, certified_rounds=2)


def test_the_report_shows_what_was_expected(tmp_path):
    run = run_on(PARTLY)
    page = write_report(run, tmp_path, title="partly").read_text(encoding="utf-8")
    assert f"{run.rounds[-1].expected_machine_labels:,.0f} in round {len(run.rounds)}." in page
    assert NO_LONGER_PAYS in page
    page = write_report(run_on(EASY, stop_early=False), tmp_path / "other", title="easy").read_text(encoding="utf-8")
    assert "expected in all" not in page


EASY_ASKED = EASY[0], ls.SimulatedAnnotator(EASY[1])
OF_ITS_OWN = {name: value for name, value in SETTINGS.items() if name not in ("stop_early", "seed_size", "batch_size")}


@pytest.mark.parametrize(
    ("settings", "stops"),
    [
        ({}, True),
        ({"classifier": "embedding", "training": "vanilla"}, True),
        ({"classifier": "kernel"}, True),
        ({"classifier": "features"}, True),
        ({"confidence": "evidence"}, True),
        ({"stop_early": False}, False),
        ({"confidence": "softmax"}, False),
        ({"thresholds": "paper"}, False),
        ({"certified_rounds": 2, "validation_budget": 400}, False),
        ({"classifier": "linear"}, False),
        ({"classifier": RandomForestClassifier(20)}, False),
    ],
    ids=str,
)
def test_a_run_stops_by_itself_where_that_is_cheap_and_can_be(settings, stops):
    run = ls.autolabel(PARTLY[0], ls.SimulatedAnnotator(PARTLY[1]), **OF_ITS_OWN | settings)
    assert run.rounds[0].train_points == (80 if stops else 160)


def test_batches_grow_from_a_few_labels_of_each_class_unless_sizes_are_given():
    def points(**settings):
        run = ls.autolabel(HARD[0], ls.SimulatedAnnotator(HARD[1]), **OF_ITS_OWN | settings)
        return [report.train_points for report in run.rounds]

    assert points() == [80, 100, 125, 156, 195, 244, 305, 381, 400]
    assert ls.autolabel(*EASY_ASKED, **OF_ITS_OWN).settings["batch_size"] == "a quarter of the labels there are"
    assert points(train_budget=2000 - 200)[:3] == [90, 112, 140]
    assert points(classes=None) == [160, 240, 320, 400]
    assert points(seed_size=200) == [200, 280, 360, 400]
    assert points(max_rounds=3) == [160, 240, 320]
    assert points(max_rounds=9) == points()
    assert points(batch_size=150) == [160, 310, 400]
    assert points(stop_early=False) == [160, 240, 320, 400]


def test_other_words_are_refused():
    with pytest.raises(ConfigurationError, match="stop_early must be True, False or 'auto'; got 'never'"):
        run_on(EASY, stop_early="never")


def test_few_answers_that_were_there_already_make_no_tiny_batches():
    settings = checked_settings(
        pool_size=5000, n_given_validation=0, n_classes=5, tolerance=0.05, delta=0.05, train_budget=500,
        validation_budget=500, certified_rounds=1, seed_size=None, batch_size=None, calibration_fraction=0.5,
        max_rounds=None, label_rest=False, random_state=0, stop_early="auto",
    ).stopping_early(None, None, 5)  # fmt: skip
    assert settings.seed_size == 100
    assert (settings.next_batch(8), settings.next_batch(100), settings.next_batch(490)) == (92, 25, 10)
    assert settings.batches_after(8) == 1 + settings.batches_after(100)
