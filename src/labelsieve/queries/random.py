"""Uniform draws without replacement."""

from __future__ import annotations

import numpy as np

from labelsieve.queries.base import Query, Selection
from labelsieve.types import Array, Outputs


class Random(Query):
    """Every candidate with the same probability; also how seed batches are drawn."""

    def summary(self, outputs: Outputs) -> Array:
        return np.empty((len(outputs), 0))

    def _select(self, candidates: Array, trained: Array, n: int, rng: np.random.Generator) -> Selection:
        rows = rng.choice(len(candidates), size=n, replace=False)
        return Selection(rows=rows, probabilities=np.full(n, n / len(candidates)))
