"""k-centre greedy: cover the feature space."""

from __future__ import annotations

import numpy as np

from labelsieve.queries.base import Query, Selection
from labelsieve.types import Array, Floats, Outputs

_BLOCK = 256


class Coreset(Query):
    """Again and again the point farthest from everything trained on or chosen so far.

    Costs O(candidates · (trained + n) · d) time and keeps the candidates' features in memory.
    """

    def summary(self, outputs: Outputs) -> Array:
        return outputs.features.astype(np.float32)

    def _select(self, candidates: Array, trained: Array, n: int, rng: np.random.Generator) -> Selection:
        # Squares are expanded below, which loses digits far from the origin.
        centre = candidates.mean(axis=0)
        candidates, trained = candidates - centre, trained - centre
        squares = np.einsum("ij,ij->i", candidates, candidates)
        nearest = np.full(len(candidates), np.inf, dtype=np.float32)
        for start in range(0, len(trained), _BLOCK):
            centres = trained[start : start + _BLOCK]
            nearest = np.minimum(nearest, _squared_distances(candidates, squares, centres).min(axis=1))
        chosen = np.empty(n, dtype=np.int64)
        for step in range(n):
            chosen[step] = nearest.argmax()
            newest = candidates[chosen[step] : chosen[step] + 1]
            nearest = np.minimum(nearest, _squared_distances(candidates, squares, newest)[:, 0])
            nearest[chosen[step]] = -np.inf
        return Selection(rows=chosen, probabilities=np.ones(n))


def _squared_distances(points: Floats, squares: Floats, centres: Floats) -> Floats:
    """Clipped at 0: the expanded square can come out slightly negative."""
    distances = squares[:, None] - 2 * (points @ centres.T) + np.einsum("ij,ij->i", centres, centres)
    return np.asarray(np.maximum(distances, 0))
