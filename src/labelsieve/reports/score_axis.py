"""An axis on which confidence scores can be told apart.

Probabilities pile up near 1, where 0.99 and 0.9999 are worlds apart, so scores within [0, 1] are placed by their
log-odds. Scores of other confidence functions may be any numbers and are placed as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.special import logit

from labelsieve.types import Floats

_CLOSEST_TO_0, _CLOSEST_TO_1 = 1e-3, 1e-6
_MARGIN = 0.04
_ROUND_SCORES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.1, 0.01, 0.7, 0.3, 0.8, 0.95, 0.2, 0.6, 0.4)
"""Ticks in order of preference; one that would stand too close to an earlier one is left out."""


@dataclass(frozen=True)
class ScoreAxis:
    """From scores to places on the axis, with its limits and ticks."""

    stretched: bool
    low: float
    high: float

    def place(self, scores: Floats) -> Floats:
        """Where scores go; those beyond the axis, 0, 1 and infinity included, go to its ends."""
        scores = np.asarray(scores, dtype=np.float64)
        if self.stretched:
            scores = logit(np.clip(scores, _CLOSEST_TO_0, 1 - _CLOSEST_TO_1))
        return np.clip(scores, self.low, self.high)

    def ticks(self, at_most: int = 6) -> tuple[list[float], list[str]]:
        """Places and texts of the ticks."""
        if not self.stretched:
            places = MaxNLocator(at_most).tick_values(self.low, self.high)
            inside = [float(place) for place in places if self.low <= place <= self.high]
            return inside, [f"{place:g}" for place in inside]
        kept: list[tuple[float, str]] = []
        for score in _ROUND_SCORES:
            place = float(logit(score))
            apart = all(abs(place - other) >= (self.high - self.low) / at_most for other, _ in kept)
            if self.low <= place <= self.high and apart:
                kept.append((place, f"{score:g}"))
        return [place for place, _ in kept], [text for _, text in kept]


def score_axis(scores: Floats) -> ScoreAxis:
    """An axis that holds all of these scores."""
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return ScoreAxis(stretched=False, low=-1.0, high=1.0)
    stretched = bool(len(finite) == len(scores) and finite.min() >= 0 and finite.max() <= 1)
    unbounded = ScoreAxis(stretched, -np.inf, np.inf)
    places = unbounded.place(finite)
    span = float(np.ptp(places)) or 1.0
    return ScoreAxis(stretched, float(places.min()) - _MARGIN * span, float(places.max()) + _MARGIN * span)
