"""What the answers so far say about the machine labels nobody checked.

N machine labels, K of them wrong, are fixed before the audit; chance is only in the order of checking. After n of them,
k were wrong. For every possible K' the ratio R_n(K') of the prior probability of K' to its posterior probability is, if
K' is the truth, a martingale that starts at 1, so that (Ville) it ever reaches 1 / δ with probability δ at most. The
labels that remain are *certified* after n answers if R_n(K') ≥ 1 / δ for every K' with K' − k > ε (N − n). If they are
certified wrongly, the true K is one of those K', and so R_n(K) ≥ 1 / δ: that ever happens with probability δ at most.
Nothing was assumed of when one looks or stops, nor that n is the first time. What is promised is the error of the
labels that remain (checked ones are corrected), in this very label set: no population, no future labels.

The upper bound is the largest number of remaining errors not yet refuted, with the same prior (fixed by the tolerance)
and hence by the same martingale: bound and verdict hold together, at one δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labelsieve.bounds import anytime_evidence, anytime_unseen_upper
from labelsieve.types import Floats, Ints

_GRID = 2_000


@dataclass(frozen=True)
class Verdict:
    """``errors`` of ``points`` checked were wrong, out of ``total``; ``level`` is the δ that was set aside for this."""

    total: int
    points: int
    errors: int
    tolerance: float
    level: float

    @property
    def remaining(self) -> int:
        """Machine labels that nobody checked."""
        return self.total - self.points

    @cached_property
    def evidence(self) -> float:
        """Logarithm of the evidence that few enough of the remaining labels are wrong; infinite if none remain."""
        return float(anytime_evidence(self.errors, self.points, self.total, self.tolerance))

    @property
    def needed(self) -> float:
        """The evidence at which the remaining labels are certified."""
        return math.log(1 / self.level)

    @property
    def certified(self) -> bool:
        """Whether at most ``tolerance`` of the remaining labels are wrong, at confidence 1 − ``level``."""
        return self.evidence >= self.needed

    @cached_property
    def most_wrong(self) -> int:
        """Upper bound on the number of wrong labels among the remaining ones."""
        return anytime_unseen_upper(self.errors, self.points, self.total, self.level, self.tolerance)

    @property
    def bound(self) -> float:
        """The same as a share of the remaining ones."""
        return self.most_wrong / self.remaining if self.remaining else 0.0

    @property
    def rate(self) -> float | None:
        """Share of wrong labels among those checked."""
        return self.errors / self.points if self.points else None

    @cached_property
    def likely_more(self) -> int | None:
        """How many more labels would settle it if errors kept turning up at the rate seen; None if none would.

        A forecast and no promise. None if the rate seen is above the tolerance, and also where so few labels remain
        that checking more of them leaves ever less to be certain about.
        """
        if self.certified:
            return 0
        settled = settled_at(self.total, self.tolerance, self.level, self.rate or 0.0, self.points, self.errors)
        return None if settled is None else settled - self.points


def settled_at(total: int, tolerance: float, level: float, rate: float, points: int = 0, errors: int = 0) -> int | None:
    """After how many answers the rest would be certified if errors came at ``rate``; None if only by checking all."""
    if rate > tolerance:
        return None
    grid = np.unique(np.geomspace(1, total - points + 1, _GRID).astype(np.int64)) + points - 1
    grid = grid[grid < total]
    reached = grid[evidence_at_rate(grid, total, tolerance, rate, points, errors) >= math.log(1 / level)]
    return int(reached[0]) if len(reached) else None


def evidence_at_rate(grid: Ints, total: int, tolerance: float, rate: float, points: int, errors: int) -> Floats:
    """Evidence after each number of answers in ``grid``, errors rounded up so that none is hoped away."""
    expected = errors + np.ceil(rate * (grid - points) - 1e-9)
    return np.asarray(anytime_evidence(expected, grid, total, tolerance))
