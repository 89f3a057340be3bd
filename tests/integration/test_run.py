"""What a run tells about itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import labelsieve as ls
from labelsieve.errors import DataError


def test_labels_and_evaluation_by_hand(small_run, blobs):
    run = small_run()
    machine = run.labels.query("source == 'machine'")
    wrong = machine["label"].to_numpy() != blobs[1][machine["id"]]
    outcome = run.evaluate(blobs[1])
    assert outcome.error == pytest.approx(wrong.mean())
    assert outcome.coverage == run.coverage == len(machine) / 300
    assert outcome.per_class["machine_labels"].sum() == outcome.per_round["machine_labels"].sum() == len(machine)
    assert outcome.per_class["wrong"].sum() == wrong.sum()
    assert sorted(outcome.wrong["id"]) == sorted(machine["id"][wrong])
    assert list(run.labels.columns) == ["id", "label", "source", "role", "round", "confidence", "threshold"]


def test_strings_as_ids_and_labels(blobs):
    x, y = blobs
    ids = [f"row-{i}" for i in range(len(x))]
    names = np.array(["ant", "bee", "cat"])[y]
    run = ls.autolabel(
        ls.Pool(x, ids=ids),
        ls.SimulatedAnnotator(names, ids=ids),
        train_budget=60,
        validation_budget=90,
        progress=False,
    )
    assert set(run.labels["label"]) == {"ant", "bee", "cat"} == set(run.classes)
    by_array, by_id = run.evaluate(names), run.evaluate(dict(zip(ids, names, strict=True)))
    assert by_array.error == by_id.error
    assert by_array.error < 0.2


def test_strings_beside_numbers_as_labels(blobs):
    x, y = blobs
    names = [("a", 1, "1")[code] for code in y]
    run = ls.autolabel(x, ls.SimulatedAnnotator(names), train_budget=60, validation_budget=90, progress=False)
    assert set(run.classes) == {"a", 1, "1"}
    plain = ls.autolabel(x, ls.SimulatedAnnotator(y), train_budget=60, validation_budget=90, progress=False)
    assert run.evaluate(names).error == run.evaluate(dict(enumerate(names))).error == plain.evaluate(y).error


def test_truth_with_gaps(small_run, blobs):
    known = dict(enumerate(blobs[1].tolist()))
    del known[7]
    with pytest.raises(DataError, match="no label for 1 points; the first is 7"):
        small_run().evaluate(known)


def test_answers_by_mapping_and_by_tensor(small_run, blobs):
    by_id = small_run(annotator=lambda ids: {int(id_): int(blobs[1][id_]) for id_ in reversed(ids)})
    by_tensor = small_run(annotator=lambda ids: torch.tensor(blobs[1][ids]))
    assert by_id.labels.equals(small_run().labels)
    assert by_tensor.labels.equals(small_run().labels)


def test_no_machine_labels_no_error(small_run, blobs):
    run = small_run(thresholds=ls.thresholds.PaperRule(min_coverage=1.1))
    assert run.machine_labels == 0
    assert run.evaluate(blobs[1]).error is None
    assert run.stop_reason == "the train budget is used"


def test_truth_of_the_wrong_length(small_run, blobs):
    with pytest.raises(DataError, match=r"one label per point of the pool \(300\); got 299"):
        small_run().evaluate(blobs[1][:-1])


def test_given_validation_is_not_part_of_the_output(blobs):
    x, y = blobs
    run = ls.autolabel(
        x[:200], ls.SimulatedAnnotator(y[:200]), validation=(x[200:], y[200:]), train_budget=40,
        classifier="logistic", progress=False,
    )  # fmt: skip
    assert run.human_labels == 40
    assert set(run.labels["role"]) <= {"train", "machine"}
    assert run.rounds[0].threshold_points == 100


def test_auto_picks_by_shape(blobs):
    rng = np.random.default_rng(0)
    for shape, expected in [((3,), "Logistic"), ((8, 8), "Logistic"), ((20, 20), "LeNet"), ((20, 20, 3), "CNN")]:
        x = rng.normal(size=(60, *shape))
        run = ls.autolabel(x, lambda ids: ids % 2, train_budget=12, validation_budget=12, max_rounds=1, progress=False)
        assert expected in run.settings["classifier"]
