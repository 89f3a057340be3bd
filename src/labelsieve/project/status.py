"""Where a project stands, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelsieve.engine.entries import Role
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.state import MACHINE


@dataclass(frozen=True)
class Status:
    """Counts of items; ``waiting`` are asked about and not decided yet, of ``batch`` in this batch.

    Labels of people are there once decided, whether a run has taken them in or not; ``answers`` counts every answer.
    """

    items: int
    training_labels: int
    validation_labels: int
    answers: int
    machine_labels: int
    left: int
    """Without a label of anybody."""
    rounds: int
    batch: int
    waiting: int
    stop_reason: str | None
    at_work: str | None
    """The process that works on the project now, in words."""
    obstacle: str | None
    """Why no run can begin, if so."""

    @property
    def labels_of_people(self) -> int:
        return self.training_labels + self.validation_labels

    @property
    def coverage(self) -> float:
        return self.machine_labels / self.items

    def next_step(self, folder: str) -> str:
        """A command, and why; once all is over, what came of it, on several lines."""
        if self.at_work is not None:
            return f"The machine is at work, {self.at_work}. Wait for it to finish."
        if self.waiting:
            return (
                f"{self.waiting:,} of {self.batch:,} labels of this batch are needed from people: "
                f"labelsieve serve {folder} (a page to label on), or labelsieve ask {folder} --out questions.csv"
            )
        if self.obstacle is not None:
            return f"It cannot be run yet. {self.obstacle} More items help, too: labelsieve add {folder} --data PATH"
        if self.stop_reason is None:
            return f"The machine's turn: labelsieve run {folder}"
        finished = [f"Finished, because {self.stop_reason}."]
        if self.left:
            finished.append(
                f"{self.left:,} items are left without a label: the machine cannot vouch for them. Label these by hand "
                "(export --all has them, too), or make a project with larger budgets or a larger tolerance, which "
                f"learns from these answers: labelsieve init NEW ... --answers-from {folder}"
            )
        return "\n".join([*finished, f"Take the labels: labelsieve export {folder} --out labels.csv"])


def status_of(
    ledger: Ledger,
    n_items: int,
    decided: set[int],
    answers: int,
    stop_reason: str | None,
    at_work: str | None,
    obstacle: str | None,
) -> Status:
    """From the ledger, the rows people have decided on, and how many answers that took."""
    state = ledger.state
    pending = state.pending()
    is_decided = np.isin(pending, list(decided))
    labelled = state.asked & (state.source != 0)
    labelled[pending[is_decided]] = True
    held_out = np.isin(state.role, (Role.VALIDATION, Role.CALIBRATION, Role.THRESHOLD))
    return Status(
        items=n_items,
        training_labels=int((labelled & (state.role == Role.TRAIN)).sum()),
        validation_labels=int((labelled & held_out).sum()),
        answers=answers,
        machine_labels=int((state.source == MACHINE).sum()),
        left=n_items - int((state.source != 0).sum()),
        rounds=state.rounds_closed,
        batch=len(pending),
        waiting=int((~is_decided).sum()),
        stop_reason=stop_reason,
        at_work=at_work,
        obstacle=obstacle,
    )
