"""What follows from a ledger's entries: who is labelled, by whom, and who is still held out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from labelsieve.engine import entries as ledger_entries
from labelsieve.engine.entries import Role
from labelsieve.errors import LedgerError, SplitReuseError
from labelsieve.types import Array, Bools, Floats, Ints, Label

HUMAN, MACHINE = 1, 2
_NO_LABEL = -1


def _empty(dtype: type) -> Array:
    return np.empty(0, dtype=dtype)


@dataclass(eq=False)
class LedgerState:
    """One array per field, indexed by point. Changed only by ``apply``, one entry after the other."""

    n_pool: int = 0
    classes: list[Label] = field(default_factory=list)
    label: Ints = field(default_factory=lambda: _empty(np.int64))
    source: Array = field(default_factory=lambda: _empty(np.int8))
    role: Array = field(default_factory=lambda: _empty(np.int8))
    round_number: Array = field(default_factory=lambda: _empty(np.int32))
    asked: Bools = field(default_factory=lambda: _empty(np.bool_))
    probability: Floats = field(default_factory=lambda: _empty(np.float64))
    score: Floats = field(default_factory=lambda: _empty(np.float64))
    threshold: Floats = field(default_factory=lambda: _empty(np.float64))
    held_out: Bools = field(default_factory=lambda: _empty(np.bool_))
    assigned_round: Array = field(default_factory=lambda: _empty(np.int32))
    rounds_closed: int = 0

    def unlabelled(self) -> Ints:
        """Pool rows nobody has labelled or been asked about."""
        pool = slice(0, self.n_pool)
        return np.flatnonzero((self.source[pool] == 0) & ~self.asked[pool])

    def pending(self) -> Ints:
        """Points that were asked about and not answered yet."""
        return np.flatnonzero(self.asked & (self.source == 0))

    def training(self) -> Ints:
        """Points whose human label may train a classifier."""
        return np.flatnonzero((self.role == Role.TRAIN) & (self.source == HUMAN))

    def validation(self) -> Ints:
        """Held-out points that are still in use."""
        return np.flatnonzero(self.held_out & (self.source == HUMAN))

    def asked_for(self, role: Role) -> int:
        """How many points were ever asked about for this purpose."""
        roles = (Role.VALIDATION, Role.CALIBRATION, Role.THRESHOLD) if role is Role.VALIDATION else (role,)
        return int((np.isin(self.role, roles) & self.asked).sum())

    def apply(self, entry: ledger_entries.Entry) -> None:
        """Take one more entry into account, or raise if it contradicts what is known."""
        match entry:
            case ledger_entries.RunStarted():
                self._start(entry)
            case ledger_entries.ClassesNamed():
                if len({*self.classes, *entry.names}) != len(self.classes) + len(entry.names):
                    raise LedgerError(f"A class is named once; {list(entry.names)} repeats one.")
                self.classes = [*self.classes, *entry.names]
            case ledger_entries.ValidationGiven():
                given = np.arange(self.n_pool, len(self.label))
                self.label[given], self.source[given], self.role[given] = entry.labels, HUMAN, Role.VALIDATION
                self.held_out[given] = True
            case ledger_entries.Asked():
                self._ask(entry)
            case ledger_entries.Answered():
                self._answer(entry)
            case ledger_entries.Assigned():
                self._assign(entry)
            case ledger_entries.MachineLabelled():
                self._label_by_machine(entry)
            case ledger_entries.Retired():
                self._refuse(entry.points, {"retired although not held out": ~self._at(self.held_out, entry.points)})
                self.held_out[entry.points] = False
            case ledger_entries.RoundClosed():
                self.rounds_closed = entry.report.number

    def _start(self, entry: ledger_entries.RunStarted) -> None:
        if len(self.label):
            raise LedgerError("A ledger holds one run; this one has already begun.")
        n = entry.n_pool + entry.n_given_validation
        self.n_pool = entry.n_pool
        self.label = np.full(n, _NO_LABEL, dtype=np.int64)
        self.source, self.role = np.zeros(n, dtype=np.int8), np.zeros(n, dtype=np.int8)
        self.round_number, self.assigned_round = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
        self.asked, self.held_out = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        self.probability, self.score, self.threshold = (np.full(n, np.nan) for _ in range(3))

    def _ask(self, entry: ledger_entries.Asked) -> None:
        taken = self._at(self.asked, entry.points) | (self._at(self.source, entry.points) != 0)
        self._refuse(
            entry.points,
            {
                "asked about again": taken,
                "asked about although outside the pool": entry.points >= self.n_pool,
                "asked about without a probability": ~((entry.probabilities > 0) & (entry.probabilities <= 1)),
            },
        )
        self.asked[entry.points] = True
        self.role[entry.points] = entry.role
        self.round_number[entry.points] = entry.round_number
        self.probability[entry.points] = entry.probabilities

    def _answer(self, entry: ledger_entries.Answered) -> None:
        self._refuse(
            entry.points,
            {
                "answered although nobody asked": ~self._at(self.asked, entry.points),
                "answered again": self._at(self.source, entry.points) != 0,
                "given a label that is no class": ~self._is_class(entry.labels),
            },
        )
        self.label[entry.points] = entry.labels
        self.source[entry.points] = HUMAN
        self.held_out[entry.points] = self.role[entry.points] == Role.VALIDATION

    def _assign(self, entry: ledger_entries.Assigned) -> None:
        if entry.role not in (Role.CALIBRATION, Role.THRESHOLD):
            raise SplitReuseError(f"A held-out point can calibrate or set thresholds, not {entry.role.name.lower()}.")
        self._refuse(entry.points, {})
        wrong = (self.assigned_round[entry.points] == entry.round_number) | ~self.held_out[entry.points]
        if wrong.any():
            raise SplitReuseError(
                f"A held-out point has one role per round, and only held-out points have one; {int(wrong.sum())} of "
                f"{len(entry.points)} points for {entry.role.name.lower()} in round {entry.round_number} break that "
                f"(the first is point {entry.points[wrong][0]}). Split the validation points into disjoint parts."
            )
        self.assigned_round[entry.points] = entry.round_number
        self.role[entry.points] = entry.role

    def _label_by_machine(self, entry: ledger_entries.MachineLabelled) -> None:
        taken = self._at(self.asked, entry.points) | (self._at(self.source, entry.points) != 0)
        self._refuse(
            entry.points,
            {
                "labelled although outside the pool": entry.points >= self.n_pool,
                "labelled again": taken,
                "labelled below the threshold": ~(entry.scores >= entry.thresholds),
                "given a label that is no class": ~self._is_class(entry.labels),
            },
        )
        self.label[entry.points] = entry.labels
        self.source[entry.points] = MACHINE
        self.round_number[entry.points] = entry.round_number
        self.score[entry.points] = entry.scores
        self.threshold[entry.points] = entry.thresholds

    def _at(self, values: Array, points: Ints) -> Array:
        """Values at these points; a point that does not exist is an error and not the last one."""
        if len(points) and not 0 <= points.min() <= points.max() < len(values):
            raise LedgerError(f"Points are numbered 0 to {len(values) - 1}; got {points.min()} to {points.max()}.")
        return np.asarray(values[points])

    def _is_class(self, labels: Ints) -> Bools:
        return np.asarray((labels >= 0) & (labels < len(self.classes)))

    def _refuse(self, points: Ints, problems: dict[str, Bools]) -> None:
        """Raise if a point is named twice, or if any of these problems has a point."""
        named = np.zeros(len(self.label), dtype=bool)
        self._at(self.label, points)
        named[points] = True
        if named.sum() != len(points):
            raise LedgerError("An entry names each point once; this one repeats some.")
        for what, wrong in problems.items():
            if wrong.any():
                raise LedgerError(
                    f"{int(wrong.sum())} of {len(points)} points were about to be {what}; "
                    f"the first is {points[wrong][0]}."
                )
