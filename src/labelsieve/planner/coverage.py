"""What share of the points a threshold would keep, in each scenario."""

from __future__ import annotations

import numpy as np

from labelsieve.planner.settings import PlanSettings
from labelsieve.thresholds.claims import CertifiedTest
from labelsieve.types import Bools, Floats, Ints


def kept(settings: PlanSettings, bands: Floats, validation: int, rest: int, rng: np.random.Generator) -> Floats:
    """Share of the ``rest`` that certified thresholds let through, with one simulated validation set per scenario.

    The test is the very one of ``CertifiedRule``, for all classes together. As with the default confidence function, it
    begins near the coverage that is to be expected, which is taken to be known.
    """
    expected = kept_in_hindsight(bands, settings.tolerance)
    test = CertifiedTest(settings.tolerance, settings.delta, validation, rest, expected, settings.candidates)
    sizes = test.sizes()
    held_out = rng.multivariate_hypergeometric(
        np.diff(sizes, prepend=0), validation, size=len(bands), method="marginals"
    )
    errors = rng.binomial(held_out, _error_rates(bands, sizes / test.n_points)).cumsum(axis=1)
    points = held_out.cumsum(axis=1)
    return np.asarray(np.where(test.passes(sizes, points, errors), sizes - points, 0).max(axis=1) / rest)


def kept_in_hindsight(bands: Floats, tolerance: float) -> Floats:
    """Share above the lowest threshold whose error is within the tolerance, with all labels known."""
    return np.asarray(_last(bands.cumsum(axis=1) <= tolerance * np.arange(1, bands.shape[1] + 1)) / bands.shape[1])


def _error_rates(bands: Floats, shares: Floats) -> Floats:
    """Error rates between one share of the points, surest first, and the next; within a band they are equal."""
    n = bands.shape[1]
    band = np.minimum((shares * n).astype(np.int64), n - 1)
    wrong = bands.cumsum(axis=1)[:, band] - (band + 1 - shares * n) * bands[:, band]
    return np.asarray(np.clip(np.diff(wrong, prepend=0) / np.diff(shares * n, prepend=0), 0, 1))


def _last(passes: Bools) -> Ints:
    """Number of bands up to the last candidate that passes; 0 where none does."""
    return np.asarray(np.where(passes, np.arange(1, passes.shape[1] + 1), 0).max(axis=1))
