"""The paper's strategy: random draws among the smallest margins."""

from __future__ import annotations

import math

import numpy as np

from labelsieve.queries.base import Query, Selection, lowest
from labelsieve.types import Array, Outputs


class MarginRandom(Query):
    """n points drawn at random from the ``window`` · n points with the smallest margins (C in the paper)."""

    def __init__(self, window: float = 2.0) -> None:
        self.window = window

    def summary(self, outputs: Outputs) -> Array:
        return outputs.margins

    def _select(self, candidates: Array, trained: Array, n: int, rng: np.random.Generator) -> Selection:
        width = min(len(candidates), max(n, math.ceil(self.window * n)))
        rows = rng.choice(lowest(candidates, width), size=n, replace=False)
        return Selection(rows=rows, probabilities=np.full(n, n / width))
