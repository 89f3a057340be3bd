"""Points that are almost sure enough to be labelled by machine."""

from __future__ import annotations

import math

import numpy as np

from labelsieve.expectation import coverage_expected_at
from labelsieve.queries.base import Query, Selection
from labelsieve.types import Array, Outputs


class NearThreshold(Query):
    """n points drawn at random from the ``window`` · n that lie next under the threshold, where the model's own
    probabilities would put it at an error of ``tolerance``."""

    def __init__(self, window: float = 2.0, tolerance: float = 0.05) -> None:
        self.window = window
        self.tolerance = tolerance

    def summary(self, outputs: Outputs) -> Array:
        return outputs.top_probabilities

    def _select(self, candidates: Array, trained: Array, n: int, rng: np.random.Generator) -> Selection:
        width = min(len(candidates), max(n, math.ceil(self.window * n)))
        let_through = round(coverage_expected_at(self.tolerance, candidates) * len(candidates))
        surest_first = np.argsort(-candidates, kind="stable")
        first = min(let_through, len(candidates) - width)  # where too few lie under it, the least sure
        rows = rng.choice(surest_first[first : first + width], size=n, replace=False)
        return Selection(rows=rows, probabilities=np.full(n, n / width))
