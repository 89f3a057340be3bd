"""What a plan is asked for, checked before anything is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from labelsieve.errors import ConfigurationError

_MOST_POINTS = 10**8
_TRAIN_DEFAULT, _TRAIN_SHARE = 500, 10


@dataclass(frozen=True)
class PlanSettings:
    """Checked settings. Budgets that are None are for the planner to choose."""

    pool_size: int
    classes: int
    tolerance: float
    delta: float
    candidates: int | None
    train_budget: int | None
    validation_budget: int | None
    budget: int | None
    price: float | None
    minutes: float | None
    random_state: int

    @property
    def hours(self) -> float | None:
        """Per label."""
        return None if self.minutes is None else self.minutes / 60

    @property
    def default_train_budget(self) -> int:
        """500 labels, or a tenth of a smaller pool; at least one per class."""
        return max(self.classes, min(_TRAIN_DEFAULT, self.pool_size // _TRAIN_SHARE))


def checked(
    *,
    pool_size: int,
    classes: int,
    tolerance: float,
    delta: float,
    candidates: int | None,
    train_budget: int | None,
    validation_budget: int | None,
    budget: int | None,
    price: float | None,
    minutes: float | None,
    random_state: int,
) -> PlanSettings:
    """The settings; raises ``ConfigurationError`` for anything that cannot be planned with."""
    settings = PlanSettings(
        pool_size=_whole("pool_size", pool_size, 2, _MOST_POINTS),
        classes=_whole("classes", classes, 2),
        tolerance=_share("tolerance", tolerance, "0.05 allows 5 % wrong machine labels"),
        delta=_share("delta", delta, "0.05 asks for 95 % confidence"),
        candidates=None if candidates is None else _whole("candidates", candidates, 1, 1000),
        train_budget=None if train_budget is None else _whole("train_budget", train_budget, 1),
        validation_budget=None if validation_budget is None else _whole("validation_budget", validation_budget, 1),
        budget=None if budget is None else _whole("budget", budget, 2),
        price=None if price is None else _amount("price", price),
        minutes=None if minutes is None else _amount("minutes", minutes),
        random_state=_whole("random_state", random_state, 0),
    )
    _check_together(settings)
    return settings


def check_pilot_accuracy(accuracy: float | None, pilot_given: bool) -> None:
    """Raise unless it is a share that is not all wrong, and the only thing said about accuracy."""
    if accuracy is None:
        return
    if pilot_given:
        raise ConfigurationError("A pilot already tells its accuracy; give pilot or pilot_accuracy, not both.")
    if not (isinstance(accuracy, Real) and 0 < accuracy <= 1):
        raise ConfigurationError(
            f"pilot_accuracy must lie above 0 and be at most 1 (0.85 for 85 % right); got {accuracy!r}."
        )


def _check_together(settings: PlanSettings) -> None:
    pool, train, validation, budget = (
        settings.pool_size, settings.train_budget, settings.validation_budget, settings.budget,
    )  # fmt: skip
    if settings.classes >= pool:
        raise ConfigurationError(
            f"The pool must have more points than there are classes; got {pool:,} points and {settings.classes:,} "
            "classes. Check that the two were not swapped."
        )
    if budget is not None:
        if train is not None or validation is not None:
            raise ConfigurationError(
                "budget is a total to be split, so train_budget and validation_budget must be left out; "
                f"got budget={budget}, train_budget={train}, validation_budget={validation}. Give one or the others."
            )
        if not settings.classes < budget < pool:
            raise ConfigurationError(
                f"budget must exceed the number of classes ({settings.classes:,}) and be smaller than the pool "
                f"({pool:,} points, which it could label entirely); got {budget:,}."
            )
    known = (train if train is not None else settings.default_train_budget) + (validation or 0)
    if known >= pool:
        raise ConfigurationError(
            f"Training and validation labels must leave points of the pool of {pool:,} to the machine; got "
            f"train_budget={train if train is not None else settings.default_train_budget:,} and "
            f"validation_budget={validation or 0:,}. Lower one of them."
        )


def _whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        limits = f"from {least:,} on" if most is None else f"from {least:,} to {most:,}"
        raise ConfigurationError(f"{name} must be a whole number {limits}; got {value!r}.")
    return number


def _share(name: str, value: Any, meaning: str) -> float:
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise ConfigurationError(f"{name} must lie strictly between 0 and 1 ({meaning}); got {value!r}.")
    return float(value)


def _amount(name: str, value: Any) -> float:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not (math.isfinite(number) and number > 0):
        raise ConfigurationError(
            f"{name} (per label) must be a number above 0; got {value!r}. Leave it out if unknown."
        )
    return number
