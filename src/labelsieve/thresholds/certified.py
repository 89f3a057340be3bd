"""Thresholds with a guarantee on the labels one gets."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from labelsieve.errors import ConfigurationError, DataError
from labelsieve.thresholds.base import PoolView, ThresholdRule
from labelsieve.thresholds.claims import CANDIDATES, CertifiedTest, first_tested, support
from labelsieve.types import Bools, Floats, Ints


class CertifiedRule(ThresholdRule):
    """With probability 1 − ``delta``, at most ``tolerance`` of the pool points at or above the thresholds are wrong.

    The promise is about the realised error of the very points that get machine labels, not about a population. It
    holds if held-out and pool points are a random split of one set given everything the scores were learned from, and
    if the held-out labels have not been used before: ``autolabel`` sees to both.

    In each group of classes, ``candidates`` thresholds are laid at quantiles of the scores of held-out and pool points
    together, which no label enters; groups share delta equally. How the candidates of a group share its part depends
    on how many of the points are held out and on whether a coverage is expected, by other labels: known beforehand.

    - At most half: each candidate has a claim that is true or false before the draw, "at most a of the points above it,
      held out or not, are wrong", and the claims are tested from strict to lax by the fallback procedure, in which a
      claim that passes hands its level on. With the errors found, a passed claim bounds the errors of the pool points.
      Tests begin at a few claims, far apart, which have equal parts of delta; where a coverage is expected, at two
      stricter than that, which have most of it. The same way, with a cautious guess at how many points are to be
      labelled, if others wait for a later test.
    - More: the claim is about the pool points directly, which depends on the draw, so each candidate gets an equal
      share of delta (Bonferroni).

    Of the candidates that pass, the lowest is taken. docs/guarantees.md has the proofs.

    candidates: how many; None for 200, or 20 where most points are held out.
    groups: ``"joint"`` for one threshold over all classes, which lets most through, since the promise is about all
        machine labels together; ``"per-class"`` for a promise about each class, with the classes that are too small for
        their own share pooled. No passing candidate means no threshold: abstain, never guess.
    """

    certifies: ClassVar[bool] = True

    def __init__(
        self,
        tolerance: float | None = None,
        delta: float | None = None,
        candidates: int | None = None,
        groups: Literal["joint", "per-class"] = "joint",
    ) -> None:
        self.tolerance = tolerance
        self.delta = delta
        self.candidates = candidates
        self.groups = groups

    def check_parameters(self) -> None:
        if self.groups not in ("joint", "per-class"):
            raise ConfigurationError(f"groups must be 'joint' or 'per-class'; got {self.groups!r}.")
        if self.candidates is not None and self.candidates < 1:
            raise ConfigurationError(f"candidates must be a whole number from 1 on, or None; got {self.candidates!r}.")

    @property
    def min_support(self) -> int:
        """What the first threshold tested has above it; sharing delta equally comes to about the same."""
        if self.tolerance is None or self.delta is None:
            return 1
        return first_tested(self.tolerance, self.delta)

    def fewest_held_out(self, points: int) -> int | None:
        if self.tolerance is None or self.delta is None:
            return super().fewest_held_out(points)
        tests = (
            CertifiedTest(self.tolerance, self.delta, n, points - n, candidates=self.candidates)
            for n in range(self.min_support, points)
        )
        return next((test.n_held_out for test in tests if test.can_pass()), None)

    def _estimate(
        self, scores: Floats, predicted: Ints, correct: Bools, n_classes: int, tolerance: float, pool: PoolView
    ) -> Floats:
        self.check_parameters()
        if self.delta is None or not 0 < self.delta < 1:
            raise ConfigurationError(f"delta must lie strictly between 0 and 1; got {self.delta!r}.")
        if np.isnan(pool.scores).any():
            raise DataError(f"pool_scores must be numbers; {int(np.isnan(pool.scores).sum())} are NaN.")
        group_of = self._group_of_class(np.r_[predicted, pool.predicted], pool, n_classes, tolerance, self.delta)
        n_groups = int(group_of.max()) + 1
        thresholds = np.full(n_classes, np.inf)
        for group in range(n_groups):
            mine, in_pool = group_of[predicted] == group, group_of[pool.predicted] == group
            lowest = self._lowest_passing(
                scores[mine], correct[mine], pool.scores[in_pool], pool, tolerance, self.delta / n_groups
            )
            thresholds[group_of == group] = lowest
        return thresholds

    def _lowest_passing(
        self, scores: Floats, correct: Bools, pool_scores: Floats, pool: PoolView, tolerance: float, delta: float
    ) -> float:
        if not len(scores) or not len(pool_scores):
            return math.inf
        test = CertifiedTest(
            tolerance,
            delta,
            len(scores),
            len(pool_scores),
            pool.expected_coverage,
            self.candidates,
            pool if pool.n_waiting else None,
        )
        together = np.sort(np.r_[scores, pool_scores])
        candidates = np.unique(together[len(together) - test.sizes()])[::-1]
        passes = test.passes(*(_at_or_above(s, candidates) for s in (together, scores, scores[~correct])))
        return float(candidates[passes].min()) if passes.any() else math.inf

    def _group_of_class(self, predicted: Ints, pool: PoolView, n_classes: int, tolerance: float, delta: float) -> Ints:
        """Group number of each class. Decided by counts of predictions over held-out and pool points together, which
        know nothing of labels and nothing of who is held out."""
        joint = np.zeros(n_classes, dtype=np.int64)
        if self.groups == "joint":
            return joint
        share_held_out = pool.n_held_out / max(1, pool.n_held_out + pool.n_waiting + pool.n_to_label)
        expected = np.bincount(predicted, minlength=n_classes) * share_held_out
        large = expected >= support(tolerance, delta / ((self.candidates or CANDIDATES) * n_classes))
        groups = joint + int(large.sum())  # the pooled group comes last
        groups[large] = np.arange(int(large.sum()))
        return groups


def _at_or_above(scores: Floats, candidates: Floats) -> Ints:
    """How many scores are at or above each candidate."""
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), candidates))
