"""What every threshold rule shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, final

import numpy as np
from sklearn.base import BaseEstimator

from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class PoolView:
    """What may be known of the points the thresholds are for: scores and predicted classes, no labels.

    Some may be held out for a later test and get no machine labels; nobody says which. The three counts are of points
    of whatever predicted class: those of this test, those waiting for a later one, and those to be labelled.
    ``expected_coverage`` is a guess that no held-out label has entered.
    """

    scores: Floats
    predicted: Ints
    n_held_out: int
    n_waiting: int
    n_to_label: int
    expected_coverage: float | None


class ThresholdRule(ABC, BaseEstimator):  # type: ignore[misc]
    """Sets, per class, the smallest score at which a machine label is good enough; infinity where none is.

    To add a rule: one file here with a subclass that stores its parameters unchanged (``tolerance`` among them;
    None means the run's) and implements ``_estimate`` and ``min_support``; one line in ``registry.py``, which
    also puts it through ``tests/contracts``; one row in ``docs/methods.md``.
    """

    tolerance: float | None

    certifies: ClassVar[bool] = False
    """Whether the thresholds come with a guarantee. The engine then gives each held-out label one use only."""

    @final
    def estimate(
        self,
        scores: Floats,
        predicted: Ints,
        correct: Bools,
        n_classes: int,
        *,
        pool_scores: Floats | None = None,
        pool_predicted: Ints | None = None,
        n_waiting: int = 0,
        may_label: Bools | None = None,
        expected_coverage: float | None = None,
    ) -> Floats:
        """Thresholds (k,) from held-out points: their score, predicted class code, and whether that was right.

        Some rules also want to know the scores and predicted classes of the pool points the thresholds are for;
        ``n_waiting`` of those are held out for a later test, and the rule is not told which. ``may_label`` (k,) says
        which classes may have a threshold; all if None. ``expected_coverage``: what share of the points to expect at or
        above the thresholds, by other labels than these; a rule that has to choose where to look first looks there.
        """
        scores = np.asarray(scores, dtype=np.float64)
        predicted = np.asarray(predicted, dtype=np.int64)
        correct = np.asarray(correct, dtype=bool)
        if not scores.shape == predicted.shape == correct.shape or scores.ndim != 1:
            raise DataError(
                "scores, predicted and correct must be one-dimensional and of one length; "
                f"got {scores.shape}, {predicted.shape} and {correct.shape}."
            )
        if np.isnan(scores).any():
            raise DataError(f"scores must be numbers; {int(np.isnan(scores).sum())} of {len(scores)} are NaN.")
        if len(predicted) and not 0 <= predicted.min() <= predicted.max() < n_classes:
            raise DataError(
                f"predicted must hold class codes 0 to {n_classes - 1}; got {predicted.min()} to {predicted.max()}."
            )
        if self.tolerance is None:
            raise ConfigurationError("tolerance must be set before thresholds are estimated, e.g. tolerance=0.05.")
        check_tolerance(self.tolerance)
        pool_scores = np.empty(0) if pool_scores is None else np.asarray(pool_scores, dtype=np.float64)
        pool_predicted = np.empty(0, dtype=np.int64) if pool_predicted is None else np.asarray(pool_predicted)
        if pool_scores.shape != pool_predicted.shape:
            raise DataError(
                "pool_scores and pool_predicted must be of one length; "
                f"got {pool_scores.shape} and {pool_predicted.shape}."
            )
        if not 0 <= n_waiting <= len(pool_scores):
            raise DataError(f"n_waiting must lie between 0 and {len(pool_scores)} pool points; got {n_waiting}.")
        counts = len(scores), n_waiting, len(pool_scores) - n_waiting
        if may_label is not None and not may_label.all():
            held_out, unseen = may_label[predicted], may_label[pool_predicted]
            scores, predicted, correct = scores[held_out], predicted[held_out], correct[held_out]
            pool_scores, pool_predicted = pool_scores[unseen], pool_predicted[unseen]
        pool = PoolView(pool_scores, pool_predicted, *counts, expected_coverage)
        thresholds = self._estimate(scores, predicted, correct, n_classes, self.tolerance, pool)
        return thresholds if may_label is None else np.where(may_label, thresholds, np.inf)

    def check_parameters(self) -> None:
        """Raise ``ConfigurationError`` if a parameter cannot work; called before anybody is asked for a label."""

    @property
    @abstractmethod
    def min_support(self) -> int:
        """Fewest held-out points with which the rule can set any threshold; with fewer, more rounds are in vain."""

    def fewest_held_out(self, points: int) -> int | None:
        """The same where all of ``points`` are to be held out or labelled by machine; None if no number will do."""
        return self.min_support if self.min_support < points else None

    @abstractmethod
    def _estimate(
        self, scores: Floats, predicted: Ints, correct: Bools, n_classes: int, tolerance: float, pool: PoolView
    ) -> Floats: ...


def check_tolerance(tolerance: float) -> None:
    """Raise unless 0 < tolerance < 1."""
    if not (isinstance(tolerance, Real) and 0 < tolerance < 1):
        raise ConfigurationError(
            f"tolerance must lie strictly between 0 and 1 (0.05 allows 5 % wrong machine labels); got {tolerance!r}."
        )
