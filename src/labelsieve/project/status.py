"""Where a project stands, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelsieve.engine.entries import Role
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.state import MACHINE


@dataclass(frozen=True)
class Status:
    """Counts of items; ``waiting`` are asked about and not decided yet, of ``batch`` in this batch."""

    items: int
    training_labels: int
    validation_labels: int
    machine_labels: int
    rounds: int
    batch: int
    waiting: int
    stop_reason: str | None
    at_work: str | None
    """The process that works on the project now, in words."""

    @property
    def coverage(self) -> float:
        return self.machine_labels / self.items

    def next_step(self, folder: str) -> str:
        """A command, and why."""
        if self.at_work is not None:
            return f"The machine is at work, {self.at_work}. Wait for it to finish."
        if self.waiting:
            return (
                f"{self.waiting:,} of {self.batch:,} labels of this batch are needed from people: "
                f"labelsieve serve {folder} (a page to label on), or labelsieve ask {folder} --out questions.csv"
            )
        if self.stop_reason is None:
            return f"The machine's turn: labelsieve run {folder}"
        return f"Finished, because {self.stop_reason}. Take the labels: labelsieve export {folder} --out labels.csv"


def status_of(ledger: Ledger, n_items: int, decided: set[int], stop_reason: str | None, at_work: str | None) -> Status:
    """From the ledger, and the rows people have decided on."""
    state = ledger.state
    pending = state.pending()
    waiting = sum(row not in decided for row in pending.tolist())
    return Status(
        items=n_items,
        training_labels=_answered(ledger, Role.TRAIN),
        validation_labels=_answered(ledger, Role.VALIDATION, Role.CALIBRATION, Role.THRESHOLD),
        machine_labels=int((state.source == MACHINE).sum()),
        rounds=state.rounds_closed,
        batch=len(pending),
        waiting=waiting,
        stop_reason=stop_reason,
        at_work=at_work,
    )


def _answered(ledger: Ledger, *roles: Role) -> int:
    state = ledger.state
    return int((np.isin(state.role, roles) & state.asked & (state.source != 0)).sum())
