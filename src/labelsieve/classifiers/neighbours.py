"""What labelled neighbours say about a prediction."""

from __future__ import annotations

import numpy as np

from labelsieve.classifiers.nearest import AT_ONCE, largest
from labelsieve.fitting.threads import for_each_chunk
from labelsieve.types import Floats, Ints, Outputs

_NEAREST = 20


class LabelledNeighbours:
    """Training points in the space of a classifier's features, where nearness is the cosine after centring.

    Every point is compared with all of them. They are few, since people labelled them: an index for approximate search
    would take longer to build than a million points take to compare.
    """

    def __init__(self, features: Floats, labels: Ints, n_classes: int) -> None:
        self._centre = features.mean(axis=0, dtype=np.float64).astype(np.float32)
        by_class = np.argsort(labels, kind="stable")
        self._labels = labels[by_class]
        self._directions = self._directions_of(features[by_class])
        counts = np.bincount(labels, minlength=n_classes)
        self._classes = np.flatnonzero(counts)
        self._starts = np.searchsorted(self._labels, self._classes)
        self._sizes = np.log1p(counts)

    def evidence(self, outputs: Outputs) -> Floats:
        """Per point: share of its nearest neighbours that are of the predicted class, plain and weighted by
        similarity; similarity of the nearest one, and of the near ones on average; similarity of the nearest one of the
        predicted class, and how much nearer it is than any of another class; how many there are of the predicted class.
        """
        columns = np.empty((len(outputs), 7), dtype=np.float64)

        def fill(here: slice) -> None:
            columns[here] = self._of(self._directions_of(outputs.features[here]), outputs.predicted[here])

        for_each_chunk(len(outputs), max(1, AT_ONCE // len(self._labels)), fill)
        return columns

    def _of(self, directions: Floats, predicted: Ints) -> Floats:
        similarity = directions @ self._directions.T
        best = np.full((len(predicted), len(self._sizes)), -1.0, dtype=np.float32)
        best[:, self._classes] = np.maximum.reduceat(similarity, self._starts, axis=1)
        rows = np.arange(len(predicted))
        best_own = best[rows, predicted]
        best[rows, predicted] = -1
        best_other = best.max(axis=1)
        near, nearest = largest(similarity, min(_NEAREST, len(self._labels)))
        agree = self._labels[nearest] == predicted[:, None]
        weights = np.maximum(near, 1e-6)
        return np.stack(
            [
                agree.mean(axis=1),
                (agree * weights).sum(axis=1) / weights.sum(axis=1),
                near.max(axis=1),
                near.mean(axis=1),
                best_own,
                best_own - best_other,
                self._sizes[predicted],
            ],
            axis=1,
        )

    def _directions_of(self, features: Floats) -> Floats:
        centred = features.astype(np.float32) - self._centre
        return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12))
