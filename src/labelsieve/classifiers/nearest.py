"""The nearest of many points."""

from __future__ import annotations

import numpy as np

from labelsieve.fitting.threads import for_each_chunk
from labelsieve.types import Floats, Ints

AT_ONCE = 1 << 20
"""Similarities looked at together: as many as a processor's cache holds."""
_GROUP = 8


def nearest(x: Floats, points: Floats, k: int, centre: Floats) -> tuple[Floats, Ints]:
    """Distances (n, k) to the nearest of the points, nearest first, and which these are.

    They are chosen by products of single precision, whose last digits depend on what is multiplied along. The distances
    do not. ``centre`` is where most points lie, so that one far out does not cost the others their digits.
    """
    near = (points - centre).astype(np.float32)
    distances, rows = np.empty((len(x), k), dtype=np.float32), np.empty((len(x), k), dtype=np.int64)
    half_squares = np.einsum("ij,ij->i", near, near) / 2

    def fill(here: slice) -> None:
        _, found = largest((x[here] - centre).astype(np.float32) @ near.T - half_squares, k)
        far = _distances(x[here], points, found)
        order = np.argsort(far, axis=1, kind="stable")
        distances[here], rows[here] = np.take_along_axis(far, order, axis=1), np.take_along_axis(found, order, axis=1)

    for_each_chunk(len(x), max(1, AT_ONCE // max(1, len(points))), fill)
    return distances, rows


def _distances(x: Floats, points: Floats, chosen: Ints) -> Floats:
    """From each of x to the points chosen for it (n, k)."""
    distances = np.empty(chosen.shape, dtype=np.float32)
    size = max(1, AT_ONCE // max(1, chosen.shape[1] * x.shape[1]))
    for start in range(0, len(x), size):
        here = slice(start, start + size)
        apart = points[chosen[here]] - x[here, None]
        distances[here] = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
    return distances


def largest(values: Floats, k: int) -> tuple[Floats, Ints]:
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
    return np.argpartition(values, values.shape[1] - k, axis=1)[:, values.shape[1] - k :]
