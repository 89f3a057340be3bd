"""Thresholds with a guarantee on the labels one gets."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from labelsieve.bounds import unseen_p_value
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.thresholds.base import PoolView, ThresholdRule
from labelsieve.types import Bools, Floats, Ints

_POINTS_PER_SUPPORT = 4


class CertifiedRule(ThresholdRule):
    """With probability 1 − ``delta``, at most ``tolerance`` of the pool points at or above the thresholds are wrong.

    The promise is about the realised error of the very points that get machine labels, not about a population. It
    holds if held-out and pool points are a random split of one set given everything the scores were learned from, and
    if the held-out labels have not been used before: ``autolabel`` sees to both.

    In each group of classes, ``candidates`` thresholds are laid at quantiles of the scores of held-out and pool points
    together, which no label enters. Each is tested by the exact hypergeometric p-value of "too many of the pool points
    above it are wrong" at its share of delta; of those that pass, the lowest is taken. Groups and candidates share
    delta equally (Bonferroni). A fixed sequence of tests would need no such sharing for a statement about a population;
    for realised errors, which depend on the same draw as the tests, it has no proof, and sharing costs little.

    groups: ``"joint"`` for one threshold over all classes; ``"per-class"`` for one per class, with the classes that are
        too small for their own share pooled; ``"auto"`` takes per-class only where most classes have several times
        the points they need. No passing candidate means no threshold: abstain, never guess.
    """

    certifies: ClassVar[bool] = True

    def __init__(
        self,
        tolerance: float | None = None,
        delta: float | None = None,
        candidates: int = 20,
        groups: Literal["auto", "joint", "per-class"] = "auto",
    ) -> None:
        self.tolerance = tolerance
        self.delta = delta
        self.candidates = candidates
        self.groups = groups

    @property
    def min_support(self) -> int:
        """Without a single error, for the one group there is at least."""
        if self.tolerance is None or self.delta is None:
            return 1
        return self._support(self.tolerance, self.delta, n_groups=1)

    def _estimate(
        self, scores: Floats, predicted: Ints, correct: Bools, n_classes: int, tolerance: float, pool: PoolView
    ) -> Floats:
        if self.delta is None or not 0 < self.delta < 1:
            raise ConfigurationError(f"delta must lie strictly between 0 and 1; got {self.delta!r}.")
        if np.isnan(pool.scores).any():
            raise DataError(f"pool_scores must be numbers; {int(np.isnan(pool.scores).sum())} are NaN.")
        group_of = self._group_of_class(np.r_[predicted, pool.predicted], len(scores), n_classes, tolerance, self.delta)
        n_groups = int(group_of.max()) + 1
        thresholds = np.full(n_classes, np.inf)
        for group in range(n_groups):
            mine, in_pool = group_of[predicted] == group, group_of[pool.predicted] == group
            level = self.delta / (self.candidates * n_groups)
            lowest = self._lowest_passing(scores[mine], correct[mine], pool.scores[in_pool], tolerance, level)
            thresholds[group_of == group] = lowest
        return thresholds

    def _lowest_passing(
        self, scores: Floats, correct: Bools, pool_scores: Floats, tolerance: float, level: float
    ) -> float:
        if not len(scores) or not len(pool_scores):
            return math.inf
        together = np.sort(np.r_[scores, pool_scores])
        candidates = np.unique(together[(np.arange(self.candidates) * len(together)) // self.candidates])
        points, unseen, errors = (_at_or_above(s, candidates) for s in (scores, pool_scores, scores[~correct]))
        passes = unseen_p_value(errors, points, unseen, np.floor(tolerance * unseen)) <= level
        passes &= (unseen > 0) & (points > 0)
        return float(candidates[passes].min()) if passes.any() else math.inf

    def _group_of_class(self, predicted: Ints, n_held_out: int, n_classes: int, tolerance: float, delta: float) -> Ints:
        """Group number of each class. Decided by counts of predictions over held-out and pool points together, which
        know nothing of labels and nothing of who is held out."""
        joint = np.zeros(n_classes, dtype=np.int64)
        if self.groups not in ("auto", "joint", "per-class"):
            raise ConfigurationError(f"groups must be 'auto', 'joint' or 'per-class'; got {self.groups!r}.")
        if self.groups == "joint":
            return joint
        expected = np.bincount(predicted, minlength=n_classes) * (n_held_out / max(1, len(predicted)))
        support = self._support(tolerance, delta, n_groups=n_classes)
        if self.groups == "auto" and np.median(expected) < _POINTS_PER_SUPPORT * support:
            return joint
        large = expected >= support
        groups = joint + int(large.sum())  # the pooled group comes last
        groups[large] = np.arange(int(large.sum()))
        return groups

    def _support(self, tolerance: float, delta: float, n_groups: int) -> int:
        """Held-out points needed above a threshold if none of them is wrong, for a large pool."""
        return math.ceil(math.log(delta / (self.candidates * n_groups)) / math.log1p(-tolerance))


def _at_or_above(scores: Floats, candidates: Floats) -> Ints:
    """How many scores are at or above each candidate."""
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), candidates))
