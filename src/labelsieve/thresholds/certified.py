"""Thresholds with a guarantee on the labels one gets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.stats import hypergeom

from labelsieve.bounds import unseen_p_value
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.thresholds.base import PoolView, ThresholdRule
from labelsieve.types import Bools, Floats, Ints

_MOST_HELD_OUT = 0.5
"""Share of held-out points above which claims about all points cost more than testing them in order gains."""
_BEGIN_AT = {0.7: 0.4, 0.45: 0.3}
"""Where to begin, as a part of the expected coverage, and the share of delta for that claim. The second is for
expectations that were too high; the rungs share the rest."""
_RUNG = 3
"""Tests also begin at the first candidate that can pass, and at those with so many times as many points above them as
the one before."""
_CANDIDATES_IN_ORDER, _CANDIDATES = 200, 20
"""Finer steps cost nothing where tests begin at few of them; where each is tested by itself, they do."""
_DEVIATIONS = 3
"""At the lowest threshold that passes, held-out errors lie hardly more standard deviations than this below what the
tolerance allows."""
_SHARE_FOR_FEWER_ERRORS = 0.1
"""Share of delta for the case that they do."""
_SHARE_FOR_COUNTS = 0.01
"""Share of delta for the case that unusually few of the points above a candidate are to be labelled."""
_FIRST_TESTED = 2
"""Held-out points above the first threshold tested, in multiples of what it takes without a single error."""


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
        return _FIRST_TESTED * _support(self.tolerance, self.delta)

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
        together = np.sort(np.r_[scores, pool_scores])
        sampled, expected = len(scores) / len(together), pool.expected_coverage
        in_order = pool.n_waiting > 0 or sampled <= _MOST_HELD_OUT
        number = self.candidates or (_CANDIDATES_IN_ORDER if in_order else _CANDIDATES)
        candidates = np.unique(together[(np.arange(number) * len(together)) // number])[::-1]
        points, unseen, errors = (_at_or_above(s, candidates) for s in (scores, pool_scores, scores[~correct]))
        total = points + unseen
        order = _Order(sampled * total, _FIRST_TESTED * _support(tolerance, delta), expected)
        if pool.n_waiting:
            for_counts = _SHARE_FOR_COUNTS * delta
            to_label = _at_least_to_label(total, pool, for_counts / number)
            claims = np.floor(tolerance * to_label).astype(np.int64)
            passes = order.passes(_p_values(errors, points, total, claims), delta - for_counts)
        elif in_order:
            passes = np.zeros(len(candidates), dtype=bool)
            for found, share in (
                (_usual_errors(sampled * total, tolerance), 1 - _SHARE_FOR_FEWER_ERRORS),
                (0, _SHARE_FOR_FEWER_ERRORS),
            ):
                claims = np.floor(tolerance * (1 - sampled) * total + found).astype(np.int64)
                bounded = claims - errors <= tolerance * unseen
                passes |= bounded & order.passes(_p_values(errors, points, total, claims), share * delta)
        else:
            p_values = unseen_p_value(errors, points, unseen, np.floor(tolerance * unseen))
            passes = p_values <= delta / number
        passes &= (unseen > 0) & (points > 0)
        return float(candidates[passes].min()) if passes.any() else math.inf

    def _group_of_class(self, predicted: Ints, pool: PoolView, n_classes: int, tolerance: float, delta: float) -> Ints:
        """Group number of each class. Decided by counts of predictions over held-out and pool points together, which
        know nothing of labels and nothing of who is held out."""
        joint = np.zeros(n_classes, dtype=np.int64)
        if self.groups == "joint":
            return joint
        share_held_out = pool.n_held_out / max(1, pool.n_held_out + pool.n_waiting + pool.n_to_label)
        expected = np.bincount(predicted, minlength=n_classes) * share_held_out
        support = _support(tolerance, delta / ((self.candidates or _CANDIDATES) * n_classes))
        large = expected >= support
        groups = joint + int(large.sum())  # the pooled group comes last
        groups[large] = np.arange(int(large.sum()))
        return groups


def _usual_errors(held_out: Floats, tolerance: float) -> Floats:
    """Fewest errors usually found among so many held-out points where the tests end."""
    allowed = tolerance * held_out
    return np.asarray(np.maximum(0.0, allowed - _DEVIATIONS * np.sqrt(allowed * (1 - tolerance))))


def _p_values(errors: Ints, points: Ints, total: Ints, claims: Ints) -> Floats:
    """Of claims that at most so many of all points above a candidate are wrong: fixed by the scores, whoever is held
    out."""
    return np.asarray(hypergeom.cdf(errors, total, np.minimum(claims + 1, total), points))


@dataclass(frozen=True, eq=False)
class _Order:
    """Claims tested from strict candidates to lax, by the fallback procedure (Wiens and Dmitrienko 2005).

    held_out: how many held-out points may be expected above each candidate, by the scores alone.
    first: how many the first one tested has.
    expected: coverage at the last one that passes, if that is known.
    """

    held_out: Floats
    first: int
    expected: float | None

    def passes(self, p_values: Floats, delta: float) -> Bools:
        """Which claims pass."""
        passes, handed_on = np.zeros(len(p_values), dtype=bool), 0.0
        tested = np.flatnonzero(self.held_out >= self.first)
        for candidate, share in zip(tested, self._shares(tested), strict=True):
            level = share * delta + handed_on
            passes[candidate] = p_values[candidate] <= level
            handed_on = level if passes[candidate] else 0.0
        return passes

    def _shares(self, tested: Ints) -> Floats:
        """Of delta, for each of them."""
        shares, held_out = np.zeros(len(tested)), self.held_out[tested]
        if not len(tested):
            return shares
        n_rungs = 1 + int(math.log(held_out.max() / held_out.min()) / math.log(_RUNG))
        rungs = np.unique([_nearest(held_out, held_out.min() * _RUNG**rung) for rung in range(n_rungs)])
        shares[rungs] = 1 / len(rungs)
        if self.expected is not None:
            shares *= 1 - sum(_BEGIN_AT.values())
            for part, share in _BEGIN_AT.items():
                shares[_nearest(held_out, part * self.expected * self.held_out.max())] += share
        return shares


def _nearest(values: Floats, to: float) -> int:
    return int(np.abs(values - to).argmin())


def _at_least_to_label(total: Ints, pool: PoolView, delta: float) -> Floats:
    """How many of ``total`` points above a candidate are to be labelled: fewer with probability delta at most.

    Counting them instead would tell which points wait for a later test, and that test needs nobody to know.
    """
    together = pool.n_held_out + pool.n_waiting + pool.n_to_label
    return np.asarray(hypergeom.ppf(delta, together, pool.n_to_label, total))


def _support(tolerance: float, delta: float) -> int:
    """Held-out points needed above a threshold if none of them is wrong, for a large pool."""
    return math.ceil(math.log(delta) / math.log1p(-tolerance))


def _at_or_above(scores: Floats, candidates: Floats) -> Ints:
    """How many scores are at or above each candidate."""
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), candidates))
