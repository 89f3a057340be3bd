"""The paper's rule (Algorithm 2)."""

from __future__ import annotations

import numpy as np

from labelsieve.thresholds.base import PoolView, ThresholdRule
from labelsieve.thresholds.risk_curve import risk_curve
from labelsieve.types import Bools, Floats, Ints


class PaperRule(ThresholdRule):
    """Per predicted class, the smallest observed score t with err + c1·sqrt(err·(1 − err)) ≤ tolerance above it.

    **It promises nothing.** The added term does not shrink with the number of points, so 0 errors of 11 points
    pass at a tolerance of 5 % although up to 24 % wrong would be compatible with them (exact 95 % bound); the
    smallest of many candidates is taken without correction; and the same points are used round after round.

    ``min_points``: fewest held-out points at or above a candidate. ``min_coverage``: smallest share of the
    class's points at or above it (ρ₀ in the paper, which gives it no value; 0 here).
    """

    def __init__(
        self,
        tolerance: float | None = None,
        c1: float = 0.25,
        min_points: int = 11,
        min_coverage: float = 0.0,
    ) -> None:
        self.tolerance = tolerance
        self.c1 = c1
        self.min_points = min_points
        self.min_coverage = min_coverage

    @property
    def min_support(self) -> int:
        return self.min_points

    def _estimate(
        self, scores: Floats, predicted: Ints, correct: Bools, n_classes: int, tolerance: float, pool: PoolView
    ) -> Floats:
        curve = risk_curve(scores, predicted, correct)
        passes = (
            (curve.points >= self.min_points)
            & (curve.coverage >= self.min_coverage)
            & (curve.error + self.c1 * np.sqrt(curve.error * (1 - curve.error)) <= tolerance)
        )
        thresholds = np.full(n_classes, np.inf)
        np.minimum.at(thresholds, curve.group[passes], curve.threshold[passes])
        return thresholds
