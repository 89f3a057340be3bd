"""How many labels to give to training, validation and audit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from labelsieve.planner.auditing import audit_need
from labelsieve.planner.coverage import kept
from labelsieve.planner.settings import PlanSettings
from labelsieve.planner.support import fewest_validation
from labelsieve.seeding import generator
from labelsieve.types import Floats

TRAIN_PART = 3
"""Training gets at least one label in this many of a total budget."""
_CLOSE_TO_BEST = 0.98
_SIZES, _ONE_IN = 20, 3
"""Sizes that are tried, each in one scenario of so many."""
_MOST_ERRORS = 5000
"""More validation labels than hold so many errors, at the tolerance, tell nothing new."""
_AUDIT_PART = 1 / 3
"""Of the tolerance: wrong labels the audit is budgeted for."""


@dataclass(frozen=True)
class Budgets:
    """Labels by purpose; ``audit`` is None where no total was to be split."""

    train: int
    validation: int
    audit: int | None
    recommended_validation: int | None


def chosen_budgets(settings: PlanSettings, bands: Floats) -> Budgets:
    """The user's numbers where given; otherwise a split of the total, or what is recommended."""
    train = settings.train_budget or settings.default_train_budget
    if settings.budget is not None:
        train = _least_training(settings.budget, settings.classes)
    points = settings.pool_size - train
    recommended = recommended_validation(settings, bands, points)
    support = fewest_validation(settings, points) or 0
    wanted = recommended or support
    if settings.budget is None:
        return Budgets(train, settings.validation_budget or wanted, None, recommended)
    share = np.median(kept(settings, bands, wanted, points - wanted, generator(settings.random_state, "split")))
    audit = audit_need(int(share * (points - wanted)), _AUDIT_PART, settings).expected
    return Budgets(*split(settings.budget, settings.classes, support, wanted, audit), recommended)


def recommended_validation(settings: PlanSettings, bands: Floats, points: int) -> int | None:
    """Fewest validation labels, of the ``points`` not trained on, that come within 2 % of the most machine labels.

    Machine labels are averaged over the scenarios; validation points are not among them, so there is a best number.
    None if no number certifies anything in any scenario.
    """
    fewest = fewest_validation(settings, points)
    if fewest is None:
        return None
    most = min(points - 1, max(fewest, round(_MOST_ERRORS / settings.tolerance)))
    sizes = np.unique(np.rint(np.geomspace(fewest, most, _SIZES)).astype(np.int64))
    some = bands[::_ONE_IN]
    machine = np.array(
        [
            (points - size)
            * kept(settings, some, int(size), points - int(size), generator(settings.random_state, "validation")).mean()
            for size in sizes
        ]
    )
    if machine.max() == 0:
        return None
    return int(sizes[(machine >= _CLOSE_TO_BEST * machine.max()).argmax()])


def least_budget(support: int, classes: int) -> int:
    """The smallest total that holds ``support`` validation labels beside the least training."""
    return max(support + classes, math.ceil(support * TRAIN_PART / (TRAIN_PART - 1)))


def split(budget: int, classes: int, support: int, recommended: int, audit: int) -> tuple[int, int, int]:
    """Training, validation and audit labels that add up to ``budget``.

    Training gets at least a third and one per class; then what certified thresholds need at the very least; then the
    audit, which can be done later or left out; then validation up to what is recommended; and training what remains.
    """
    spare = budget - _least_training(budget, classes)
    audit = max(0, min(audit, spare - support))
    validation = min(recommended, spare - audit)
    return budget - validation - audit, validation, audit


def _least_training(budget: int, classes: int) -> int:
    return max(classes, math.ceil(budget / TRAIN_PART))
