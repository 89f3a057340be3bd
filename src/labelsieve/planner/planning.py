"""The forecast: labels needed, coverage, savings and cost, and whether it pays."""

from __future__ import annotations

from os import PathLike

import numpy as np

from labelsieve.planner import scenarios
from labelsieve.planner.auditing import audit_need
from labelsieve.planner.budgets import Budgets, chosen_budgets
from labelsieve.planner.coverage import kept, kept_in_hindsight
from labelsieve.planner.pilot import Pilot, read_pilot
from labelsieve.planner.result import Basis, Case, Plan
from labelsieve.planner.settings import PlanSettings, check_pilot_accuracy, checked
from labelsieve.planner.support import validation_need
from labelsieve.planner.wording import assumptions, verdict
from labelsieve.seeding import generator
from labelsieve.types import Floats

_CASES = (0.05, 0.5, 0.95)
_WRONG_PARTS = (1 / 2, 1 / 3, 0.0)
"""Of the tolerance: how much is wrong among the machine labels that are audited, in the low, middle and high case."""


def plan(
    pool_size: int,
    classes: int,
    *,
    tolerance: float = 0.05,
    delta: float = 0.05,
    train_budget: int | None = None,
    validation_budget: int | None = None,
    budget: int | None = None,
    pilot: Pilot | str | PathLike[str] | None = None,
    pilot_accuracy: float | None = None,
    price: float | None = None,
    minutes: float | None = None,
    candidates: int | None = None,
    random_state: int = 0,
) -> Plan:
    """Forecast a run with certified thresholds before anyone labels.

    ``train_budget`` and ``validation_budget``: labels for each, chosen here when left out; or ``budget``: a total to be
    split. ``pilot``: a ``Pilot`` or a CSV file of points with score and correctness; ``pilot_accuracy``: the accuracy
    alone; with neither, stated assumptions. ``price`` and ``minutes`` are per label. ``candidates``: thresholds the
    certified rule tries; None for as many as it would. Same arguments, same forecast.
    """
    settings = checked(
        pool_size=pool_size, classes=classes, tolerance=tolerance, delta=delta, candidates=candidates,
        train_budget=train_budget, validation_budget=validation_budget, budget=budget, price=price, minutes=minutes,
        random_state=random_state,
    )  # fmt: skip
    check_pilot_accuracy(pilot_accuracy, pilot is not None)
    if pilot is not None and not isinstance(pilot, Pilot):
        pilot = read_pilot(pilot)
    bands = _scenarios(settings, pilot, pilot_accuracy)
    budgets = chosen_budgets(settings, bands)

    points = pool_size - budgets.train
    rest = points - budgets.validation
    shares = np.quantile(kept(settings, bands, budgets.validation, rest, generator(random_state, "forecast")), _CASES)
    in_hindsight = np.quantile(kept_in_hindsight(bands, settings.tolerance), _CASES)
    low, middle, high = (
        _case(settings, budgets, int(share * rest), float(best) * rest / pool_size, part)
        for share, best, part in zip(shares, in_hindsight, _WRONG_PARTS, strict=True)
    )
    joint, per_class = (
        validation_need(settings, points, groups, share_above=float(in_hindsight[1])) for groups in (1, classes)
    )
    basis: Basis = "assumptions"
    if pilot is not None:
        basis, pilot_accuracy = "pilot", float(pilot.correct.mean())
    elif pilot_accuracy is not None:
        basis = "pilot accuracy"
    return Plan(
        pool_size=pool_size,
        classes=classes,
        tolerance=settings.tolerance,
        delta=settings.delta,
        candidates=candidates,
        budget=budget,
        train_budget=budgets.train,
        validation_budget=budgets.validation,
        audit_budget=budgets.audit,
        recommended_validation=budgets.recommended_validation,
        coverage_limit=rest / pool_size,
        joint=joint,
        per_class=per_class,
        audit=tuple(
            audit_need(middle.machine_labels or high.machine_labels, part, settings) for part in reversed(_WRONG_PARTS)
        ),
        low=low,
        middle=middle,
        high=high,
        price=settings.price,
        minutes=settings.minutes,
        cost_by_hand=_times(pool_size, settings.price),
        hours_by_hand=_times(pool_size, settings.hours),
        basis=basis,
        pilot_points=None if pilot is None else len(pilot),
        pilot_accuracy=pilot_accuracy,
        pilot_auroc=None if pilot is None else scenarios.area_under_curve(pilot.scores, pilot.correct),
        verdict=verdict(settings, budgets, basis, joint.at_least, (low, middle, high)),
        assumptions=assumptions(settings, basis, pilot_accuracy, None if pilot is None else len(pilot)),
    )


def _scenarios(settings: PlanSettings, pilot: Pilot | None, accuracy: float | None) -> Floats:
    rng = generator(settings.random_state, "scenarios")
    if pilot is not None:
        return scenarios.resampled(pilot, scenarios.BANDS, rng)
    span = scenarios.ASSUMED_ACCURACY if accuracy is None else (accuracy, accuracy)
    return scenarios.assumed(span, scenarios.BANDS, rng)


def _case(settings: PlanSettings, budgets: Budgets, machine: int, best: float, wrong_part: float) -> Case:
    audit = audit_need(machine, wrong_part, settings).expected
    saved = machine - audit
    return Case(
        coverage=machine / settings.pool_size,
        best_in_hindsight=best,
        machine_labels=machine,
        audit_labels=audit,
        left_over=settings.pool_size - budgets.train - budgets.validation - machine,
        human_labels=settings.pool_size - saved,
        labels_saved=saved,
        cost=_times(settings.pool_size - saved, settings.price),
        cost_saved=_times(saved, settings.price),
        hours_saved=_times(saved, settings.hours),
    )


def _times(labels: int, each: float | None) -> float | None:
    return None if each is None else labels * each
