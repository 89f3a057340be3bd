"""Labels that spread from point to point over a graph of neighbours, with or without labels of their own."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags

from labelsieve.classifiers.known_neighbours import Neighbourhoods
from labelsieve.types import Array, Floats, Ints

MOST_UNLABELLED = 10_000
"""More would cost every later prediction more than they tell: each looks for its neighbours among them."""
_PASSES = 30
"""After which 0.9 to that power, 4 %, is left of where the spreading began."""
_FAINTEST = 1e-6
"""Of a neighbour's weight, and of the probability its opinion leaves to a class: it may doubt, not forbid."""


class LabelSpreading:
    """What the neighbours of a point say, joined to what a classifier says of it.

    Every point of the graph hears its ``neighbours`` nearest and keeps ``1 - spread`` of what the classifier says of
    it; labelled points keep to their label (Zhou et al. 2003, with the classifier's probabilities in place of
    "unknown"). A new point hears those of the graph in the same way, and both opinions are multiplied.
    """

    def __init__(
        self,
        x: Array,
        y: Ints,
        unlabelled: Array,
        said: Floats,
        n_classes: int,
        neighbours: int,
        spread: float,
        known: Neighbourhoods | None = None,
    ) -> None:
        """``said`` are the classifier's probabilities (u, k) of the unlabelled points; ``known``, what earlier graphs
        have found out about neighbours."""
        points = np.concatenate([x, unlabelled])
        self._neighbours = min(neighbours, len(points) - 1)
        self._spread = spread
        self._known, self._graph = (known or Neighbourhoods()).with_graph(points, neighbours)
        distances, rows = self._known.among(self._graph, points, self._neighbours, own=True)
        self._reach = float(np.median(distances[:, -1])) or 1.0  # 0 where most points have a twin
        links = self._weights(distances, rows)
        links = links.maximum(links.T)
        links = diags(1 / np.asarray(links.sum(axis=1)).ravel()) @ links
        start = np.concatenate([np.eye(n_classes)[y], said])
        opinions = start.copy()
        for _ in range(_PASSES):
            opinions = spread * (links @ opinions) + (1 - spread) * start
            opinions[: len(y)] = start[: len(y)]
        self._opinions = opinions

    def __call__(self, x: Array, said: Floats) -> Floats:
        """Probabilities (n, k) of new points, of which the classifier says this.

        A point of the graph is treated as any other, since nothing here may tell who was drawn for it.
        """
        weights = self._weights(*self._known.among(self._graph, x, self._neighbours))
        heard = diags(1 / np.asarray(weights.sum(axis=1)).ravel()) @ weights @ self._opinions
        joined = (self._spread * heard + (1 - self._spread) * said + _FAINTEST) * said
        return np.asarray(joined / joined.sum(axis=1, keepdims=True))

    def _weights(self, distances: Floats, rows: Ints) -> csr_matrix:
        """(n, points of the graph): how much each point hears of its neighbours."""
        weights = np.maximum(np.exp(-((distances.astype(np.float64) / self._reach) ** 2)), _FAINTEST)
        starts = np.arange(0, rows.size + 1, self._neighbours)
        return csr_matrix((weights.ravel(), rows.ravel(), starts), shape=(len(rows), len(self._graph)))
