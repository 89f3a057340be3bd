"""What labelled neighbours say about a prediction."""

from __future__ import annotations

import numpy as np

from labelsieve.fitting.threads import for_each_chunk
from labelsieve.types import Floats, Ints, Outputs

_NEAREST = 20
_GROUP = 8
_AT_ONCE = 1 << 20
"""Similarities looked at together: as many as a processor's cache holds."""


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

        for_each_chunk(len(outputs), max(1, _AT_ONCE // len(self._labels)), fill)
        return columns

    def _of(self, directions: Floats, predicted: Ints) -> Floats:
        similarity = directions @ self._directions.T
        best = np.full((len(predicted), len(self._sizes)), -1.0, dtype=np.float32)
        best[:, self._classes] = np.maximum.reduceat(similarity, self._starts, axis=1)
        rows = np.arange(len(predicted))
        best_own = best[rows, predicted]
        best[rows, predicted] = -1
        best_other = best.max(axis=1)
        near, nearest = _largest(similarity, min(_NEAREST, len(self._labels)))
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


def _largest(values: Floats, k: int) -> tuple[Floats, Ints]:
    """The k largest of each row and where they are, in no order.

    They lie in those k groups of columns whose largest values are the largest, so that few others have to be sorted.
    """
    n, width = values.shape
    n_groups = width // _GROUP
    if n_groups <= k:
        at = _where_largest(values, k)
        return np.take_along_axis(values, at, axis=1), at
    in_groups = n_groups * _GROUP
    members = np.arange(in_groups).reshape(_GROUP, n_groups)
    groups = _where_largest(values[:, :in_groups].reshape(n, _GROUP, n_groups).max(axis=1), k)
    left_over = np.broadcast_to(np.arange(in_groups, width), (n, width - in_groups))
    columns = np.hstack([*members[:, groups], left_over])
    candidates = np.take_along_axis(values, columns, axis=1)
    at = _where_largest(candidates, k)
    return np.take_along_axis(candidates, at, axis=1), np.take_along_axis(columns, at, axis=1)


def _where_largest(values: Floats, k: int) -> Ints:
    return np.argpartition(values, values.shape[1] - k, axis=1)[:, -k:]
