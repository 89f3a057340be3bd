"""A run that was cut off goes on as if it had not been; a finished one can be given more."""

from __future__ import annotations

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

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
    with pytest.raises(AnnotatorError, match="10 of 90 labels asked for had come") as caught:
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


def test_a_finished_run_can_be_given_a_larger_budget_and_stays_as_it_was(small_run):
    finished = small_run(max_rounds=1)
    before = finished.labels.copy()
    more = small_run(ledger=finished, max_rounds=None, train_budget=80)
    assert more.human_labels > finished.human_labels
    assert_frame_equal(finished.labels, before)
    kept = more.labels.set_index("id").loc[before["id"], ["label", "source"]].reset_index()
    assert_frame_equal(kept, before[["id", "label", "source"]])


@pytest.mark.parametrize("change", ["pool", "seed"])
def test_another_pool_or_seed_is_refused(small_run, blobs, change):
    finished = small_run()
    other = {"pool": blobs[0] + 1} if change == "pool" else {"random_state": 5}
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
