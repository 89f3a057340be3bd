"""Asking in order, stopping, continuing, and what cannot work."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import labelsieve as ls
from labelsieve.audit.answers import Answers, Contradiction
from labelsieve.audit.labels import LabelSet
from labelsieve.audit.sampling import audit_order
from labelsieve.audit.session import audit_run, audit_table, start
from labelsieve.errors import AnnotatorError, ConfigurationError, DataError
from tests.unit.audit.tables import all_cats, label_table


def test_order_is_a_permutation_fixed_by_the_seed():
    order = audit_order(1_000, 3)
    assert sorted(order.tolist()) == list(range(1_000))
    assert (order == audit_order(1_000, 3)).all()
    assert (order != audit_order(1_000, 4)).any()


def test_every_label_is_drawn_equally_often():
    drawn = np.array([audit_order(10, seed)[:3] for seed in range(3_000)])
    counts = np.bincount(drawn.ravel(), minlength=10)
    assert abs(counts - 900).max() < 110  # 4.4 standard deviations


def test_asks_in_order_and_stops_when_certain():
    asked: list[str] = []

    def annotator(ids):
        asked.extend(ids.tolist())
        return all_cats(ids)

    audit = audit_table(label_table(), annotator, tolerance=0.1, batch_size=7, slices="none")
    assert audit.certified
    assert asked == audit.labels.ids[audit.order[: len(asked)]].tolist()
    assert len(asked) == audit.verdict.points < 60
    before = start(audit.labels, tolerance=0.1, slices="none").proceed(all_cats, max_labels=len(asked) - 7)
    assert not before.certified


def test_continuing_is_the_same_as_asking_at_once():
    table = label_table()
    at_once = audit_table(table, all_cats, tolerance=0.05, max_labels=40, batch_size=10)
    first = start(LabelSet.of_table(table), tolerance=0.05, max_labels=40).proceed(all_cats, max_labels=20)
    assert first.verdict.points == 20
    assert first.proceed(all_cats).verdict == at_once.verdict
    assert first.proceed(all_cats).unions == at_once.unions


def test_answers_after_a_gap_wait():
    audit = start(LabelSet.of_table(label_table()), tolerance=0.1)
    ids = audit.to_ask(5).tolist()
    answers = Answers().with_answers([(id_, "cat") for id_ in [*ids[:2], *ids[3:]]], {}, ids)
    audit = type(audit)(audit.labels, audit.plan, audit.slices, answers)
    assert audit.verdict.points == 2
    assert audit.to_ask(2).tolist()[0] == ids[2]


def test_corrected_labels():
    table = label_table()
    audit = audit_table(table, lambda ids: ["dog"] * len(ids), tolerance=0.1, max_labels=10)
    after = audit.corrected()
    checked = after[after["role"] == "audit"]
    assert len(checked) == 10
    assert set(checked["label"]) == {"dog"}
    assert set(checked["source"]) == {"human"}
    assert checked["confidence"].isna().all()
    rest = ~after["id"].isin(checked["id"])
    pd.testing.assert_frame_equal(after[rest], table[rest])
    assert audit.new_classes == ["dog"]
    assert audit.verdict.errors == 10


def test_rollback_takes_back_the_lowest_scores():
    table = label_table(machine=3_000, human=0)
    bad = set(table["id"][:600])  # the lowest scores
    audit = audit_table(
        table,
        lambda ids: ["dog" if id_ in bad else "cat" for id_ in ids.tolist()],
        tolerance=0.1,
        max_labels=400,
    )
    assert not audit.certified
    assert audit.rollback is not None
    after = audit.corrected(rollback=True)
    remaining = after[after["source"] == "machine"]
    assert len(remaining) == audit.rollback.remaining
    assert remaining["confidence"].min() > table["confidence"][599]
    assert (after["role"] == "audit").sum() == audit.verdict.points
    assert len(after) + len(audit.rolled_back()) == len(table)


def test_slices_do_not_part_equal_scores():
    table = label_table(machine=2_000, human=0)
    table["confidence"] = np.repeat([0.9, 0.8, 0.7, 0.6], 500)
    audit = start(LabelSet.of_table(table), tolerance=0.1, slices="scores")
    assert audit.slices.sizes().tolist() == [500] * 4
    assert audit.slices.of[0] == 0


def test_slices_by_round_and_none():
    labels = LabelSet.of_table(label_table(machine=2_000))
    assert start(labels, tolerance=0.1, slices="rounds").slices.names == ("round 1", "round 2", "round 3")
    none = start(labels, tolerance=0.1, delta=0.1, slices="none")
    assert none.plan.whole_level == 0.1
    assert none.plan.rollback_level == 0
    some = start(labels, tolerance=0.1, delta=0.1)
    assert some.plan.whole_level + some.plan.rollback_level == pytest.approx(0.1)


def test_nothing_is_set_aside_where_nothing_can_be_rolled_back():
    table = label_table()[["id", "label", "source"]]
    assert start(LabelSet.of_table(table), tolerance=0.1, delta=0.1).plan.whole_level == 0.1


def test_contradictions_are_reported_and_the_first_answer_kept():
    table = label_table()
    audit = audit_table(
        table, lambda ids: dict.fromkeys(ids.tolist(), "cat") | {"p3": "dog"}, tolerance=0.1, batch_size=50
    )
    assert audit.answers.contradictions == (Contradiction("p3", "cat", "dog", "run"),)
    assert (audit.corrected()["label"] == "cat").all()
    id_ = audit.to_ask(1)[0]
    known = Answers({id_: "cat"}).with_answers([(id_, "dog")], {}, [id_])
    assert known.labels[id_] == "cat"
    assert known.contradictions == (Contradiction(id_, "cat", "dog", "audit"),)


def test_run_in_memory(small_run, blobs):
    run = small_run(tolerance=0.2, thresholds="paper")
    audit = audit_run(run, ls.SimulatedAnnotator(blobs[1]), batch_size=5)
    assert audit.plan.tolerance == 0.2
    wrong = run.evaluate(blobs[1]).wrong["id"]
    assert audit.verdict.errors == np.isin(audit.labels.ids[audit.checked], wrong).sum()


@pytest.mark.parametrize("name", ["tolerance", "delta"])
@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, float("nan"), "0.05", True])
def test_shares_outside_zero_and_one(name, value):
    with pytest.raises(ConfigurationError, match=rf"{name} must lie strictly between 0 and 1 .*; got"):
        audit_table(label_table(), all_cats, **({"tolerance": 0.05} | {name: value}))


def test_audit_larger_than_the_labelled_set():
    with pytest.raises(ConfigurationError, match=r"max_labels=301 for 300\. Lower it"):
        audit_table(label_table(), all_cats, tolerance=0.05, max_labels=301)


def test_nothing_machine_labelled():
    with pytest.raises(DataError, match="none of the 20 labels is one"):
        audit_table(label_table(machine=0), all_cats, tolerance=0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number from 1 on; got 0"),
        ({"max_labels": 0}, "max_labels must be a whole number from 1 on; got 0"),
        ({"seed": -1}, "seed must be a whole number from 0 on; got -1"),
        ({"slices": "classes"}, "slices must be one of auto, scores, rounds, none; got 'classes'"),
    ],
)
def test_settings_that_cannot_work(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        audit_table(label_table(), all_cats, tolerance=0.05, **settings)


def test_slices_that_are_not_there():
    table = label_table()[["id", "label", "source"]]
    with pytest.raises(DataError, match="Slices by score need a finite confidence"):
        audit_table(table, all_cats, tolerance=0.05, slices="scores")
    with pytest.raises(DataError, match="Slices by round need the round"):
        audit_table(table, all_cats, tolerance=0.05, slices="rounds")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="source"), "needs the columns id, label, source"),
        (lambda table: pd.concat([table, table[:1]]), "names each id once; 1 come again, the first is p0"),
        (lambda table: table.assign(source="robot"), "must be human or machine; got 'robot'"),
    ],
)
def test_tables_that_are_none(change, message):
    with pytest.raises(DataError, match=message):
        audit_table(change(label_table()), all_cats, tolerance=0.05)


def test_an_annotator_that_fails_half_way():
    def annotator(ids):
        yield "cat"
        yield "cat"
        raise ConnectionError("gone")

    with pytest.raises(AnnotatorError, match=r"after 2: ConnectionError\('gone'\)") as caught:
        audit_table(label_table(), annotator, tolerance=0.1)
    audit = caught.value.ledger
    assert audit.verdict.points == 2
    assert audit.proceed(all_cats).certified


@pytest.mark.parametrize(
    ("annotator", "message"),
    [
        (lambda ids: ["cat"], "only 1 labels came back"),
        (lambda ids: ["cat"] * 99, "more labels than ids"),
        (lambda ids: "cat", "expected a list of labels"),
        (lambda ids: {}, "there is no answer for id"),
        (lambda ids: [3] * len(ids), r"must be of the kind the labels are \(str\); got 3 \(int\)"),
        (lambda ids: [None] * len(ids), "must be a string or an integer; got None"),
    ],
)
def test_answers_that_cannot_be_used(annotator, message):
    with pytest.raises(AnnotatorError, match=message) as caught:
        audit_table(label_table(), annotator, tolerance=0.1)
    assert caught.value.ledger.verdict.points == 0
