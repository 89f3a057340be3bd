"""The ledger refuses contradictions, all or nothing, and its state is a fold over its entries."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.engine.entries import (
    Answered,
    Asked,
    Assigned,
    ClassesNamed,
    MachineLabelled,
    Retired,
    Role,
    RunStarted,
)
from labelsieve.engine.ledger import Ledger, fold
from labelsieve.errors import LedgerError, SplitReuseError


def asked(points, role=Role.TRAIN, round_number=0):
    return Asked(round_number, role, np.array(points), np.full(len(points), 0.5))


def answered(points, labels):
    return Answered(np.array(points), np.array(labels), "test")


def machine(points):
    n = len(points)
    return MachineLabelled(1, np.array(points), np.zeros(n, int), np.ones(n), np.full(n, 0.9), "abc")


@pytest.fixture
def ledger():
    begun = Ledger()
    begun.append(RunStarted(10, 2, 0, "f"), ClassesNamed(("a", "b")))
    begun.append(asked([0, 1, 2]), answered([0, 1], [0, 1]))
    begun.append(asked([3, 4, 5, 6], Role.VALIDATION), answered([3, 4, 5, 6], [0, 0, 1, 1]))
    return begun


def test_folds(ledger):
    ledger.append(machine([8]))
    state = ledger.state
    assert state.unlabelled().tolist() == [7, 9]
    assert state.pending().tolist() == [2]
    assert state.training().tolist() == [0, 1]
    assert state.validation().tolist() == [3, 4, 5, 6]
    assert (state.asked_for(Role.TRAIN), state.asked_for(Role.VALIDATION)) == (3, 4)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (asked([2]), "asked about again"),
        (asked([7, 7]), "repeats"),
        (answered([7], [0]), "nobody asked"),
        (answered([0], [1]), "answered again"),
        (machine([0]), "labelled again"),
        (machine([2]), "labelled again"),
        (machine([11]), "outside the pool"),
        (RunStarted(10, 2, 0, "f"), "already begun"),
        (asked([-1]), "numbered 0 to 11; got -1"),
        (asked([99]), "numbered 0 to 11; got 99"),
        (asked([11]), "asked about although outside the pool"),
        (Asked(0, Role.TRAIN, np.array([7]), np.array([0.0])), "without a probability"),
        (answered([2], [5]), "no class"),
        (MachineLabelled(1, np.array([7]), np.array([0]), np.array([0.5]), np.array([0.9]), ""), "below the threshold"),
        (MachineLabelled(1, np.array([7]), np.array([4]), np.array([1.0]), np.array([0.9]), ""), "no class"),
        (Retired(1, np.array([0])), "retired although not held out"),
        (ClassesNamed(("b",)), "named once"),
    ],
)
def test_contradictions_leave_no_trace(ledger, entry, message):
    before, labels = len(ledger), ledger.state.label.copy()
    with pytest.raises(LedgerError, match=message):
        ledger.append(machine([9]), entry)
    assert len(ledger) == before
    assert ledger.state.label.tolist() == labels.tolist()


def test_one_role_per_round(ledger):
    ledger.append(Assigned(1, Role.CALIBRATION, np.array([3, 4])))
    with pytest.raises(SplitReuseError, match="one role per round"):
        ledger.append(Assigned(1, Role.THRESHOLD, np.array([4, 5])))
    ledger.append(Assigned(1, Role.THRESHOLD, np.array([5, 6])))
    ledger.append(Assigned(2, Role.THRESHOLD, np.array([3, 4, 5, 6])))


def test_training_points_cannot_be_held_out(ledger):
    with pytest.raises(SplitReuseError, match="only held-out points"):
        ledger.append(Assigned(1, Role.THRESHOLD, np.array([0])))


def test_held_out_points_cannot_train(ledger):
    with pytest.raises(SplitReuseError, match="not train"):
        ledger.append(Assigned(1, Role.TRAIN, np.array([3])))
    assert ledger.state.training().tolist() == [0, 1]


def test_any_exception_leaves_the_ledger_as_it_was(ledger):
    with pytest.raises(ValueError, match="shape"):
        ledger.append(machine([9]), Answered(np.array([2]), np.array([0, 1, 0]), "three labels for one point"))
    assert ledger.state.unlabelled().tolist() == [7, 8, 9]


def test_replaying_gives_the_same_state(small_run):
    run = small_run(label_rest=True)
    replayed = fold(list(run.ledger))
    for name, value in vars(run.ledger.state).items():
        np.testing.assert_array_equal(getattr(replayed, name), value, err_msg=name)
