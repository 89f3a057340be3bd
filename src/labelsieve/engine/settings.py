"""Numbers that steer a run, checked before anything is asked or trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

from labelsieve.errors import ConfigurationError
from labelsieve.thresholds.base import check_tolerance

_SEED_SHARE, _BATCH_SHARE = 0.4, 0.2
_FIRST_SHARE, _FIRST_PER_CLASS, _GROWTH = 0.05, 20, 0.25
"""Of runs that may stop early."""


@dataclass(frozen=True)
class RunSettings:
    """Checked settings of one run."""

    tolerance: float
    delta: float
    train_budget: int
    validation_budget: int
    validation_points: int
    certified_rounds: int
    seed_size: int
    batch_size: int | None
    calibration_fraction: float
    max_rounds: int | None
    label_rest: bool
    random_state: int
    stop_early: bool

    def next_batch(self, asked: int) -> int:
        """How many training labels to ask for after so many: of fixed size or, if there is none, growing."""
        growing = max(1, self.seed_size - asked, round(_GROWTH * asked))
        wanted = growing if self.batch_size is None else self.batch_size
        return min(wanted, self.train_budget - asked)

    def batches_after(self, asked: int) -> int:
        """How many more batches there may be."""
        batches = 0
        while asked < self.train_budget:
            asked += self.next_batch(asked)
            batches += 1
        return batches

    def stopping_early(self, seed_size: int | None, batch_size: int | None, n_classes: int | None) -> RunSettings:
        """The same, for a run that may stop early. Where no sizes were given, it begins with few labels and always adds
        a quarter of what there are: whether twice as many promise more can then be told at any time. Unless it may not
        make so many rounds."""
        if seed_size is not None or batch_size is not None or n_classes is None:
            return replace(self, stop_early=True)
        few = max(round(_FIRST_SHARE * self.train_budget), _FIRST_PER_CLASS * n_classes)
        growing = replace(self, stop_early=True, seed_size=min(self.seed_size, few), batch_size=None)
        if self.max_rounds is not None and growing.batches_after(growing.seed_size) >= self.max_rounds:
            return replace(self, stop_early=True)
        return growing


def checked_settings(
    *,
    pool_size: int,
    n_given_validation: int,
    n_classes: int | None,
    tolerance: float,
    delta: float,
    train_budget: int,
    validation_budget: int,
    certified_rounds: int,
    seed_size: int | None,
    batch_size: int | None,
    calibration_fraction: float,
    max_rounds: int | None,
    label_rest: bool,
    random_state: int,
    stop_early: bool | str,
) -> RunSettings:
    """Settings with defaults filled in; raises ``ConfigurationError`` for anything that cannot work. ``stop_early`` by
    choice of the run (``"auto"``) is for its methods to tell; until then it is off."""
    check_tolerance(tolerance)
    if not (isinstance(delta, Real) and 0 < delta < 1):
        raise ConfigurationError(
            f"delta must lie strictly between 0 and 1 (0.05: the promise may fail in one run of 20); got {delta!r}."
        )
    train_budget = _positive("train_budget", train_budget)
    if seed_size is None:
        seed_size = max(1, round(_SEED_SHARE * train_budget))
    if batch_size is None:
        batch_size = max(1, round(_BATCH_SHARE * train_budget))
    seed_size, batch_size = _positive("seed_size", seed_size), _positive("batch_size", batch_size)
    if seed_size > train_budget:
        raise ConfigurationError(f"seed_size must not exceed train_budget; got {seed_size} > {train_budget}.")
    if n_given_validation:
        validation_budget, validation_points = 0, n_given_validation
    else:
        validation_budget = validation_points = _positive("validation_budget", validation_budget)
    if train_budget + validation_budget > pool_size:
        raise ConfigurationError(
            f"train_budget and validation_budget together must fit into the pool of {pool_size} points; "
            f"got {train_budget} + {validation_budget} = {train_budget + validation_budget}. Lower one of them."
        )
    if n_classes is not None and validation_points < n_classes:
        raise ConfigurationError(
            f"Validation needs at least one point per class; got {validation_points} points for {n_classes} classes. "
            "Raise validation_budget, or give more validation data."
        )
    if not (isinstance(calibration_fraction, Real) and 0 < calibration_fraction < 1):
        raise ConfigurationError(
            "calibration_fraction must lie strictly between 0 and 1 (0.5 gives half of the validation points to "
            f"the confidence function and half to thresholds); got {calibration_fraction!r}."
        )
    if isinstance(random_state, bool) or not isinstance(random_state, Integral) or random_state < 0:
        raise ConfigurationError(f"random_state must be a whole number from 0 on; got {random_state!r}.")
    if stop_early not in (True, False, "auto"):
        raise ConfigurationError(f"stop_early must be True, False or 'auto'; got {stop_early!r}.")
    return RunSettings(
        tolerance=float(tolerance),
        delta=float(delta),
        train_budget=train_budget,
        validation_budget=validation_budget,
        validation_points=validation_points,
        certified_rounds=_positive("certified_rounds", certified_rounds),
        seed_size=seed_size,
        batch_size=batch_size,
        calibration_fraction=float(calibration_fraction),
        max_rounds=None if max_rounds is None else _positive("max_rounds", max_rounds),
        label_rest=bool(label_rest),
        random_state=int(random_state),
        stop_early=stop_early is True,
    )


def _positive(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ConfigurationError(f"{name} must be a whole number from 1 on; got {value!r}.")
    return int(value)
