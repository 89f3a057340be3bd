"""Entries come back as they went in, whatever happens in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import labelsieve as ls
from labelsieve.engine.entries import Answered, Asked, ClassesNamed, Role, RoundClosed, RunStarted
from labelsieve.engine.ledger import Ledger
from labelsieve.errors import LedgerError, ProjectError
from labelsieve.store.database import Database
from labelsieve.store.encoding import KINDS, decoded, encoded
from labelsieve.store.journal import journalled, replayed
from labelsieve.types import HeldOutScores, RoundReport


def same(one: Any, other: Any) -> bool:
    if is_dataclass(one):
        pairs = ((getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
        return type(one) is type(other) and all(same(a, b) for a, b in pairs)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return type(one) is type(other) and one == other


def test_every_kind_of_entry_of_a_real_run(small_run: Any, blobs: Any) -> None:
    x, y = blobs
    run = small_run(validation=(x[:120], y[:120]), classes=["zero", "ünö", "2"], pool=x[120:],
                    annotator=ls.SimulatedAnnotator(np.array(["zero", "ünö", "2"])[y[120:]]))  # fmt: skip
    found = set()
    for entry in run.ledger:
        assert same(decoded(*encoded(entry)), entry)
        found.add(type(entry).__name__)
    assert found == set(KINDS)


@pytest.fixture
def small_run(small_run: Any) -> Any:
    """With labels by name for the validation data, too."""

    def start(**settings: Any) -> ls.Run:
        names = settings["classes"]
        x, y = settings.pop("validation")
        return small_run(validation=(x, [names[code] for code in y]), **settings)

    return start


def test_a_round_that_was_kept_before_rounds_had_estimates_can_be_read() -> None:
    empty = HeldOutScores(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=bool))
    report = RoundReport(1, 10, 0, 5, np.array([0.5, np.inf]), 3, 0, 7, 2, "model", None, None, 0.1, empty, 42.0)
    kind, facts, arrays = encoded(RoundClosed(report))
    assert same(decoded(kind, facts, arrays), RoundClosed(report))
    older = {name: value for name, value in json.loads(facts).items() if name != "report.expected_machine_labels"}
    read = decoded(kind, json.dumps(older), arrays)
    assert same(read, RoundClosed(replace(report, expected_machine_labels=None)))


def test_an_entry_of_another_version_is_refused() -> None:
    with pytest.raises(ProjectError, match="'Invented'"):
        decoded("Invented", "{}", None)


START = (RunStarted(5, 0, 0, "fingerprint"), ClassesNamed(("a", "b")))


def asked(*points: int) -> Asked:
    return Asked(0, Role.TRAIN, np.array(points), np.ones(len(points)))


def test_what_is_appended_is_there_for_others_at_once(tmp_path: Path) -> None:
    path = tmp_path / "p.sqlite"
    with Database(path, make=True) as database, Database(path) as reader:
        ledger = journalled(database)
        ledger.append(*START)
        ledger.append(asked(0, 3))
        assert replayed(reader).state.pending().tolist() == [0, 3]
        again = journalled(reader)
        again.append(Answered(np.array([0]), np.array([1]), "ann"))
        assert replayed(database).state.pending().tolist() == [3]


def test_what_contradicts_or_cannot_be_written_is_neither_believed_nor_kept(tmp_path: Path) -> None:
    with Database(tmp_path / "p.sqlite", make=True) as database:
        ledger = journalled(database)
        ledger.append(*START, asked(0))
        with pytest.raises(LedgerError):
            ledger.append(asked(1), asked(1))
        assert ledger.state.pending().tolist() == [0]
        assert len(ledger) == len(replayed(database)) == 3

    def full(_entries: object) -> None:
        raise ProjectError("disk is full")

    unlucky = Ledger(START, full)
    with pytest.raises(ProjectError):
        unlucky.append(asked(0))
    assert not len(unlucky.state.pending())
    assert len(unlucky) == 2


WRITER = """
import sys, numpy as np
from pathlib import Path
from labelsieve.engine.entries import Asked, Role
from labelsieve.store.database import Database
from labelsieve.store.journal import journalled
ledger = journalled(Database(Path(sys.argv[1])))
for point in range(int(sys.argv[2]), 1_000_000):
    ledger.append(Asked(0, Role.TRAIN, np.array([point]), np.ones(1)))
    print(point, flush=True)  # acknowledged
"""


@pytest.mark.parametrize("moment", [1, 2, 5, 9, 20])
def test_killed_at_any_moment_every_acknowledged_entry_is_there(tmp_path: Path, moment: int) -> None:
    path = tmp_path / "p.sqlite"
    with Database(path, make=True) as database:
        journalled(database).append(RunStarted(1_000_000, 0, 0, "fingerprint"), ClassesNamed(("a", "b")))
    acknowledged = -1
    for _ in range(2):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(acknowledged + 1)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        for _ in range(moment):
            acknowledged = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        rest = writer.stdout.read().split()
        acknowledged = max([acknowledged, *map(int, rest)])
        with Database(path) as database:
            assert database.is_whole()
            pending = replayed(database).state.pending()
        assert pending.tolist() == list(range(len(pending)))
        assert acknowledged < len(pending) <= acknowledged + 2
        acknowledged = len(pending) - 1
