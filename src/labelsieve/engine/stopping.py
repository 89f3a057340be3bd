"""When to stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.modelling import Modelling
from labelsieve.engine.scoring import PoolScores
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.standing import Standing
from labelsieve.engine.state import MACHINE
from labelsieve.engine.validation import ValidationPlan
from labelsieve.types import RoundReport

NO_LONGER_PAYS = "asking for more labels no longer pays"
_FEWEST = 3
"""Estimates that a median is taken of: a single one, from few labels, may be far off."""


@dataclass(frozen=True)
class Estimate:
    """What a round expects of a run that asks for no more training labels.

    ``machine_labels``: how many points it could label in all; None if it has no idea. ``within_reach``: how many it has
    labelled or could still label, were its model perfect.
    """

    train_points: int
    machine_labels: float | None
    within_reach: int


def estimates(reports: Sequence[RoundReport]) -> list[Estimate]:
    """One per round that is over."""
    found, labelled = [], 0
    for report in reports:
        labelled += report.machine_labelled
        found.append(Estimate(report.train_points, report.expected_machine_labels, labelled + report.remaining))
    return found


def asking_pays(so_far: Sequence[Estimate], batch: int) -> bool:
    """Whether another batch of training labels may be expected to add machine labels.

    Not if so much is expected already that a perfect model could not make up for the points of the batch, which people
    label. And not if twice the labels promise no more: if the median of the estimates since half of the present labels
    is no higher than of those from a quarter to half of them. It does while nothing is expected at all.
    """
    expected = so_far[-1].machine_labels if so_far else None
    if not expected:
        return True
    if expected >= so_far[-1].within_reach - batch:
        return False
    present = so_far[-1].train_points
    since_half, before = _between(so_far, present / 2, present), _between(so_far, present / 4, present / 2)
    if min(len(since_half), len(before)) < _FEWEST or not median(since_half):
        return True
    return median(since_half) > median(before)


def _between(so_far: Sequence[Estimate], more_than: float, at_most: float) -> list[float]:
    return [
        estimate.machine_labels
        for estimate in so_far
        if estimate.machine_labels is not None and more_than < estimate.train_points <= at_most
    ]


class Prospects:
    """What a run expects, by its training labels alone: no validation label has a say in when to test."""

    def __init__(
        self, modelling: Modelling, standing: Standing, settings: RunSettings, plan: ValidationPlan, ledger: Ledger
    ) -> None:
        self._modelling = modelling
        self._standing = standing
        self._settings = settings
        self._plan = plan
        self._ledger = ledger

    def estimate(
        self, confidence: ConfidenceFunction, scored: Sequence[PoolScores], newly_labelled: int, left: int
    ) -> Estimate:
        """What could be labelled by machine if no more were asked for: what is labelled so far, the current round
        included, and what may be expected of the points that are left, if they score like these."""
        state = self._ledger.state
        labelled, expected = int((state.source == MACHINE).sum()) + newly_labelled, None
        if self._settings.stop_early:
            share = self._modelling.expected_coverage(confidence, np.concatenate([part.score for part in scored]))
            expected = None if share is None else labelled + self._plan.worth_testing(share) * left
        return Estimate(len(state.training()), expected, labelled + left)

    def asking_pays(self, estimate: Estimate | None = None) -> bool:
        """By the estimates in the ledger, and that of the current round, which is not there yet."""
        if not self._settings.stop_early:
            return True
        so_far = estimates(self._ledger.rounds)
        return asking_pays(so_far if estimate is None else [*so_far, estimate], self._standing.next_batch())


def reason_to_stop(
    *,
    remaining: int,
    untrained_labels: int,
    train_budget_left: int,
    rounds: int,
    max_rounds: int | None,
    pays: bool,
    validation_reason: str | None,
) -> str | None:
    """Why another round would be in vain or is not wanted; None to go on.

    ``pays``: whether more training labels may add machine labels.
    ``untrained_labels``: answers no model has learned from yet. The last batch asked for is still trained on.
    ``validation_reason``: why no later round could set a threshold, if so.
    """
    if remaining == 0:
        return "the pool is empty"
    if max_rounds is not None and rounds >= max_rounds:
        return "max_rounds is reached"
    if not pays and train_budget_left > 0 and untrained_labels == 0:
        return NO_LONGER_PAYS
    if validation_reason is not None:
        return validation_reason
    if train_budget_left <= 0 and untrained_labels == 0:
        return "the train budget is used"
    return None
