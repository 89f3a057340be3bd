"""What share of the points a threshold would keep, in each scenario."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelsieve.bounds import unseen_p_value
from labelsieve.types import Bools, Floats, Ints


@dataclass(frozen=True)
class CertifiedTest:
    """The test a certified rule makes, once, for all classes together: each candidate keeps one band more."""

    tolerance: float
    level: float
    candidates: int

    def errors_allowed(self, validation: int, rest: int) -> tuple[Ints, Ints]:
        """Per candidate: held-out points above it, and the most errors among them that pass; −1 where none do."""
        share = np.arange(1, self.candidates + 1) / self.candidates
        points, unseen = np.rint(share * validation).astype(np.int64), np.rint(share * rest).astype(np.int64)
        allowed_unseen = np.floor(self.tolerance * unseen)
        passing, failing = np.full(len(points), -1), points + 1  # by bisection: more errors never pass more easily
        while (failing - passing > 1).any():
            middle = np.minimum((passing + failing) // 2, points)
            passes = unseen_p_value(middle, points, unseen, allowed_unseen) <= self.level
            open_ = failing - passing > 1
            passing, failing = np.where(open_ & passes, middle, passing), np.where(open_ & ~passes, middle, failing)
        return points, np.where((unseen > 0) & (points > 0), passing, -1)

    def kept(self, bands: Floats, validation: int, rest: int, rng: np.random.Generator) -> Floats:
        """Share of the ``rest`` above the lowest threshold that passes, one simulated validation set per scenario."""
        points, allowed = self.errors_allowed(validation, rest)
        errors = rng.binomial(np.diff(points, prepend=0), bands).cumsum(axis=1)
        return _last(errors <= allowed) / self.candidates


def kept_in_hindsight(bands: Floats, tolerance: float) -> Floats:
    """Share above the lowest threshold whose error is within the tolerance, with all labels known."""
    return np.asarray(_last(bands.cumsum(axis=1) <= tolerance * np.arange(1, bands.shape[1] + 1)) / bands.shape[1])


def _last(passes: Bools) -> Ints:
    """Number of bands up to the last candidate that passes; 0 where none does."""
    return np.asarray(np.where(passes, np.arange(1, passes.shape[1] + 1), 0).max(axis=1))
