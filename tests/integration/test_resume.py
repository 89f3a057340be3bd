"""A run that was cut off goes on as if it had not been; a finished one can be given more."""

from __future__ import annotations

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from sklearn.naive_bayes import GaussianNB

import labelsieve as ls
from labelsieve.errors import AnnotatorError, ConfigurationError


class Tiring:
    """Answers ``patience`` labels one by one, then raises — again and again."""

    def __init__(self, y, patience):
        self.y, self.patience, self.asked = y, patience, []

    def label(self, ids):
        for answered, id_ in enumerate(ids):
            if answered == self.patience:
                raise ConnectionError("gone for lunch")
            self.asked.append(int(id_))
            yield self.y[id_]


@pytest.mark.parametrize("patience", [7, 25, 50])
def test_interrupted_again_and_again_gives_the_same_labels(small_run, blobs, patience):
    whole = small_run()
    annotator, ledger, run, failures = Tiring(blobs[1], patience), ls.Ledger(), None, []
    while run is None:
        try:
            run = small_run(annotator=annotator, ledger=ledger)
        except AnnotatorError as error:
            failures.append(error)
        assert (ledger.state.source[annotator.asked] == 1).all()
    assert len(failures) >= 90 // patience
    assert all(isinstance(failure.__cause__, ConnectionError) and failure.ledger is ledger for failure in failures)
    assert_frame_equal(run.labels, whole.labels)
    assert len(annotator.asked) == len(set(annotator.asked))


def test_without_an_own_ledger_the_error_carries_it(small_run, blobs):
    annotator = Tiring(blobs[1], 10)
    with pytest.raises(AnnotatorError, match="10 of the last 90 labels asked for had come") as caught:
        small_run(annotator=annotator)
    annotator.patience = 1000
    assert_frame_equal(small_run(annotator=annotator, ledger=caught.value.ledger).labels, small_run().labels)


def test_interrupt_from_the_keyboard_keeps_the_answers(small_run, blobs):
    calls = []

    def impatient(ids):
        calls.append(len(ids))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return blobs[1][ids]

    ledger = ls.Ledger()
    with pytest.raises(KeyboardInterrupt):
        small_run(annotator=impatient, ledger=ledger)
    assert (ledger.state.source == 1).sum() == sum(calls[:2])
    assert_frame_equal(small_run(ledger=ledger).labels, small_run().labels)


def test_interrupt_from_the_keyboard_in_the_middle_of_a_batch(small_run, blobs):
    def one_by_one(ids):
        for number, id_ in enumerate(ids):
            if number == 39:
                raise KeyboardInterrupt
            yield blobs[1][id_]

    ledger = ls.Ledger()
    with pytest.raises(KeyboardInterrupt):
        small_run(annotator=one_by_one, ledger=ledger)
    assert (ledger.state.source == 1).sum() == 39
    assert_frame_equal(small_run(ledger=ledger).labels, small_run().labels)


def test_unusable_answers_are_asked_for_again_and_no_others(small_run, blobs):
    def with_a_gap(ids):
        labels = blobs[1][ids].tolist()
        return [None, *labels[1:]]

    with pytest.raises(AnnotatorError) as caught:
        small_run(annotator=with_a_gap)
    annotator = ls.SimulatedAnnotator(blobs[1])
    run = small_run(annotator=annotator, ledger=caught.value.ledger)
    assert len(annotator.asked) == run.human_labels - 89
    assert_frame_equal(run.labels, small_run().labels)


def test_continuing_a_finished_run_changes_nothing(small_run, blobs):
    finished = small_run()
    annotator = ls.SimulatedAnnotator(blobs[1])
    again = small_run(annotator=annotator, ledger=finished)
    assert annotator.asked == []
    assert_frame_equal(again.labels, finished.labels)


@pytest.mark.parametrize("first_stop", [1, 2, 3])
def test_stopped_by_max_rounds_and_continued_is_the_uninterrupted_run(small_run, first_stop):
    stopped = small_run(max_rounds=first_stop)
    assert_frame_equal(small_run(ledger=stopped).labels, small_run().labels)


def test_continuing_from_its_ledger_leaves_a_run_as_it_was(small_run):
    stopped = small_run(max_rounds=1)
    before = (stopped.human_labels, len(stopped.rounds))
    small_run(ledger=stopped.ledger)
    assert (stopped.human_labels, len(stopped.rounds)) == before


def test_an_error_from_anywhere_brings_the_ledger_along(small_run):
    class Broken(GaussianNB):
        def fit(self, x, y, sample_weight=None):
            raise RuntimeError("no licence")

    with pytest.raises(RuntimeError, match="no licence") as caught:
        small_run(classifier=Broken())
    assert "All 114 labels answered so far are kept" in caught.value.__notes__[0]
    assert_frame_equal(small_run(ledger=caught.value.ledger).labels, small_run().labels)


def test_a_class_can_be_added_when_going_on_but_none_replaced(small_run, blobs):
    with pytest.raises(AnnotatorError, match="classes=") as caught:
        small_run(classes=[0, 1])
    with pytest.raises(ConfigurationError, match=r"more classes, not with others: it has \[0, 1\], got \[1, 2\]"):
        small_run(classes=[1, 2], ledger=caught.value.ledger)
    run = small_run(classes=[0, 1, 2], ledger=caught.value.ledger)
    assert set(run.labels["label"]) == {0, 1, 2}


def test_other_validation_data_is_refused(blobs):
    x, y = blobs
    settings = {"classes": 3, "train_budget": 40, "classifier": "logistic", "progress": False, "thresholds": "paper"}
    annotator = ls.SimulatedAnnotator(y[:200])
    run = ls.autolabel(x[:200], annotator, validation=(x[200:], y[200:]), **settings)
    for other in ((x[200:][::-1], y[200:]), (x[200:], y[200:][::-1])):
        with pytest.raises(ConfigurationError, match="validation_fingerprint was"):
            ls.autolabel(x[:200], annotator, validation=other, ledger=run, **settings)


def test_a_finished_run_can_be_given_a_larger_budget_and_stays_as_it_was(small_run):
    finished = small_run(max_rounds=1)
    before = finished.labels.copy()
    more = small_run(ledger=finished, max_rounds=None, train_budget=80)
    assert more.human_labels > finished.human_labels
    assert_frame_equal(finished.labels, before)
    kept = more.labels.set_index("id").loc[before["id"], ["label", "source"]].reset_index()
    assert_frame_equal(kept, before[["id", "label", "source"]])


@pytest.mark.parametrize("change", ["pool", "random_state", "tolerance"])
def test_another_pool_seed_or_promise_is_refused(small_run, blobs, change):
    finished = small_run()
    other = {"pool": {"pool": blobs[0] + 1}, "random_state": {"random_state": 5}, "tolerance": {"tolerance": 0.1}}[
        change
    ]
    with pytest.raises(ConfigurationError, match="continued only with the same pool"):
        small_run(ledger=finished, **other)


def test_label_rest_asks_for_all_that_remains(small_run, blobs):
    run = small_run(label_rest=True, tolerance=0.01)
    assert len(run.labels) == len(blobs[0])
    assert (run.labels["role"] == "rest").sum() > 0
    assert np.all(
        run.labels.query("source == 'human'")["label"].to_numpy()
        == blobs[1][run.labels.query("source == 'human'")["id"]]
    )
