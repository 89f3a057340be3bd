"""Where a run stands, by what is in its ledger."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelsieve.engine.entries import Role
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.validation import ValidationPlan
from labelsieve.types import Bools


@dataclass(frozen=True)
class Tally:
    """What decides whether another round makes sense, after so many ``rounds``.

    ``remaining``: points without labels. ``held_out``: validation points that a later test may use.
    ``untrained_labels``: answers no model has learned from. ``tests``: rounds that have set thresholds.
    ``validation_asked``: whether the labels of the next test have been asked for.
    """

    rounds: int
    remaining: int
    untrained_labels: int
    held_out: int
    tests: int
    validation_asked: bool


class Standing:
    """What has been asked, trained on and tested so far, and what the settings leave to do."""

    def __init__(self, ledger: Ledger, settings: RunSettings, plan: ValidationPlan) -> None:
        self._ledger = ledger
        self._settings = settings
        self._plan = plan

    def now(self) -> Tally:
        """As things stand in the ledger."""
        state = self._ledger.state
        return Tally(
            rounds=state.rounds_closed,
            remaining=len(state.unlabelled()),
            untrained_labels=self.untrained_labels(),
            held_out=len(state.validation()),
            tests=self.tests_done(),
            validation_asked=self.fresh_validation_asked(),
        )

    def after_learning(self, number: int, remaining: int) -> Tally:
        """As things will stand once round ``number`` is written down, which only trains."""
        return Tally(number, remaining, 0, len(self._ledger.state.validation()), self.tests_done(), False)

    def after_labelling(self, number: int, remaining: int, held_out: int) -> Tally:
        """As things will stand once round ``number`` is written down, which has set thresholds."""
        return Tally(number, remaining, 0, held_out, self.tests_done() + 1, False)

    def train_budget_left(self) -> int:
        """Training labels that may still be asked for."""
        return self._settings.train_budget - self._asked_to_train()

    def next_batch(self) -> int:
        """How many of them to ask for next."""
        return max(0, self._settings.next_batch(self._asked_to_train()))

    def untrained_labels(self) -> int:
        """Answers no model has learned from yet."""
        reports = self._ledger.rounds
        return len(self._ledger.state.training()) - (reports[-1].train_points if reports else 0)

    def training_classes(self) -> Bools:
        """Which classes have a training label."""
        state = self._ledger.state
        seen = np.zeros(len(state.classes), dtype=bool)
        seen[state.label[state.training()]] = True
        return seen

    def tests_done(self) -> int:
        """Rounds that have set thresholds, or tried to."""
        return sum(report.threshold_points > 0 for report in self._ledger.rounds)

    def tests_now(self) -> bool:
        """Whether the round about to begin sets thresholds: the plan says so, or labels for that are asked for."""
        return self.fresh_validation_asked() or self._plan.tests(self._batches_to_come(), self.tests_done())

    def fresh_validation_asked(self) -> bool:
        """Whether the labels for the test of the next round have been asked for already."""
        state = self._ledger.state
        return bool(((state.round_number == state.rounds_closed + 1) & (state.role == Role.VALIDATION)).any())

    def fresh_validation_to_ask(self) -> int:
        """How many labels a test in the next round would have to ask for."""
        if self._plan.kind != "fresh" or self.fresh_validation_asked():
            return 0
        return min(self._plan.per_test, len(self._ledger.state.unlabelled()))

    def _asked_to_train(self) -> int:
        return self._ledger.state.asked_for(Role.TRAIN)

    def _batches_to_come(self) -> int:
        """How many batches of training labels may follow the round that is about to begin."""
        batches = self._settings.batches_after(self._asked_to_train())
        if self._settings.max_rounds is not None:
            batches = min(batches, self._settings.max_rounds - self._ledger.state.rounds_closed - 1)
        return batches
