"""Lowest top probability first."""

from __future__ import annotations

import numpy as np

from labelsieve.queries.base import LowestFirst
from labelsieve.types import Array, Outputs


class LeastConfidence(LowestFirst):
    """The points whose best class has the lowest probability."""

    def summary(self, outputs: Outputs) -> Array:
        return np.asarray(outputs.probabilities.max(axis=1))
