"""The claims behind certified thresholds, tested by how many points lie at or above each candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from labelsieve.bounds import hypergeometric_cdf, unseen_p_value
from labelsieve.thresholds.base import PoolView
from labelsieve.types import Bools, Floats, Ints

_MOST_HELD_OUT = 0.5
"""Share of held-out points above which claims about all points cost more than testing them in order gains."""
_BEGIN_AT = {0.7: 0.4, 0.45: 0.3}
"""Where to begin, as a part of the expected coverage, and the share of delta for that claim. The second is for
expectations that were too high; the rungs share the rest."""
_RUNG = 3
"""Tests also begin at the first candidate that can pass, and at those with so many times as many points above them as
the one before: by benchmarks/candidates.py, in made-up worlds and on points that are in no pool."""
_CANDIDATES_IN_ORDER, CANDIDATES = 200, 20
"""Finer steps cost nothing where tests begin at few of them; where each is tested by itself, they do."""
_DEVIATIONS = 3
"""At the lowest threshold that passes, held-out errors lie hardly more standard deviations than this below what the
tolerance allows."""
_SHARE_FOR_FEWER_ERRORS = 0.1
"""Share of delta for the case that they do."""
_SHARE_FOR_COUNTS = 0.01
"""Share of delta for the case that unusually few of the points above a candidate are to be labelled."""
_AROUND_THE_QUANTILE, _ROUNDED = np.linspace(0.7, 2.5, 37), 0.99
"""Where to look for a quantile, as multiples of a normal distribution's; and room for the digits of a probability."""
_FIRST_TESTED = 2
"""Held-out points above the first threshold tested, in multiples of what it takes without a single error."""


@dataclass(frozen=True, eq=False)
class CertifiedTest:
    """What ``CertifiedRule`` does in one group of classes once the points above its candidates are counted.

    Counts have a column per candidate, from strict to lax. A planner, which imagines many runs, has a row per run of
    what depends on the draw.

    n_held_out, n_pool: points of the group with labels to test with, and without.
    expected: coverage to expect, if that is known; one number, or one per row.
    candidates: how many; None for as many as suit the points.
    waiting: the pool, where some of it is held out for a later test.
    """

    tolerance: float
    delta: float
    n_held_out: int
    n_pool: int
    expected: float | Floats | None = None
    candidates: int | None = None
    waiting: PoolView | None = None

    @property
    def n_points(self) -> int:
        return self.n_held_out + self.n_pool

    @property
    def in_order(self) -> bool:
        return self.waiting is not None or self.n_held_out <= _MOST_HELD_OUT * self.n_points

    @property
    def number(self) -> int:
        """Of candidates."""
        return self.candidates or (_CANDIDATES_IN_ORDER if self.in_order else CANDIDATES)

    def sizes(self) -> Ints:
        """How many points, held out or not, are to lie at or above each candidate."""
        return np.unique(self.n_points - (np.arange(self.number) * self.n_points) // self.number)

    def passes(self, total: Ints, points: Ints, errors: Ints) -> Bools:
        """Which candidates pass, with so many points above them in all, so many held out and so many of these wrong."""
        unseen = total - points
        held_out, to_label = (n * total / self.n_points for n in (self.n_held_out, self.n_pool))
        order = _Order(held_out, first_tested(self.tolerance, self.delta), self.expected)
        if self.waiting is not None:
            for_counts = _SHARE_FOR_COUNTS * self.delta
            fewest = _at_least_to_label(total, self.waiting, for_counts / self.number)
            claims = np.floor(self.tolerance * fewest).astype(np.int64)
            passes = order.passes(_p_values(errors, points, total, claims), self.delta - for_counts)
        elif self.in_order:
            passes = np.zeros(np.shape(errors), dtype=bool)
            for found, share in (
                (_usual_errors(held_out, self.tolerance), 1 - _SHARE_FOR_FEWER_ERRORS),
                (0, _SHARE_FOR_FEWER_ERRORS),
            ):
                claims = np.floor(self.tolerance * to_label + found).astype(np.int64)
                bounded = claims - errors <= self.tolerance * unseen
                passes |= bounded & order.passes(_p_values(errors, points, total, claims), share * self.delta)
        else:
            p_values = unseen_p_value(errors, points, unseen, np.floor(self.tolerance * unseen))
            passes = p_values <= self.delta / self.number
        return np.asarray(passes & (unseen > 0) & (points > 0))

    def can_pass(self) -> bool:
        """Whether anything passes if not one held-out point is wrong."""
        return bool(self.passes(*(np.array([n]) for n in (self.n_points, self.n_held_out, 0))).any())


def first_tested(tolerance: float, delta: float) -> int:
    """Held-out points above the first threshold tested."""
    return _FIRST_TESTED * support(tolerance, delta)


def support(tolerance: float, delta: float) -> int:
    """Held-out points needed above a threshold if none of them is wrong, for a large pool."""
    return math.ceil(math.log(delta) / math.log1p(-tolerance))


def _usual_errors(held_out: Floats, tolerance: float) -> Floats:
    """Fewest errors usually found among so many held-out points where the tests end."""
    allowed = tolerance * held_out
    return np.asarray(np.maximum(0.0, allowed - _DEVIATIONS * np.sqrt(allowed * (1 - tolerance))))


def _p_values(errors: Ints, points: Ints, total: Ints, claims: Ints) -> Floats:
    """Of claims that at most so many of all points above a candidate are wrong: fixed by the scores, whoever is held
    out."""
    return hypergeometric_cdf(errors, total, np.minimum(claims + 1, total), points)


def _at_least_to_label(total: Ints, pool: PoolView, delta: float) -> Floats:
    """How many of ``total`` points above a candidate are to be labelled: fewer with probability delta at most.

    Counting them instead would tell which points wait for a later test, and that test needs nobody to know. The largest
    of a few numbers of which that is true, since looking for the very largest would take scipy seconds.
    """
    together = pool.n_held_out + pool.n_waiting + pool.n_to_label
    share, never_fewer = pool.n_to_label / together, np.maximum(0, total + pool.n_to_label - together)
    spread = np.sqrt(total * share * (1 - share) * (together - total) / max(1, together - 1))
    tried = np.floor(total * share - np.multiply.outer(norm.isf(delta) * _AROUND_THE_QUANTILE, spread))
    fewer = hypergeometric_cdf(np.maximum(tried - 1, 0), together, pool.n_to_label, total)
    enough = np.where((fewer <= _ROUNDED * delta) & (tried > 0), tried, 0).max(axis=0)
    return np.asarray(np.maximum(enough, never_fewer))


@dataclass(frozen=True, eq=False)
class _Order:
    """Claims tested from strict candidates to lax, by the fallback procedure (Wiens and Dmitrienko 2005).

    held_out: how many held-out points may be expected above each candidate, by the scores alone.
    first: how many the first one tested has.
    expected: coverage at the last one that passes, if that is known.
    """

    held_out: Floats
    first: int
    expected: float | Floats | None

    def passes(self, p_values: Floats, delta: float) -> Bools:
        """Which claims pass."""
        passes, handed_on = np.zeros(p_values.shape, dtype=bool), np.zeros(p_values.shape[:-1])
        tested = np.flatnonzero(self.held_out >= self.first)
        shares = self._shares(tested)
        for position, candidate in enumerate(tested):
            level = shares[..., position] * delta + handed_on
            passes[..., candidate] = p_values[..., candidate] <= level
            handed_on = np.where(passes[..., candidate], level, 0.0)
        return passes

    def _shares(self, tested: Ints) -> Floats:
        """Of delta, for each of them."""
        if not len(tested):
            return np.zeros(0)
        held_out = self.held_out[tested]
        n_rungs = 1 + int(math.log(held_out.max() / held_out.min()) / math.log(_RUNG))
        rungs = np.unique(_nearest(held_out, held_out.min() * np.float64(_RUNG) ** np.arange(n_rungs)))
        shares = np.isin(np.arange(len(tested)), rungs) / len(rungs)
        if self.expected is None:
            return shares
        likely = np.asarray(self.expected) * self.held_out.max()
        shares = (1 - sum(_BEGIN_AT.values())) * np.tile(shares, (*likely.shape, 1))
        for part, share in _BEGIN_AT.items():
            shares += share * (np.arange(len(tested)) == _nearest(held_out, part * likely)[..., None])
        return shares


def _nearest(values: Floats, to: Floats) -> Ints:
    """Of each number, the place of the value that is nearest to it."""
    return np.asarray(np.abs(values - to[..., None]).argmin(axis=-1))
