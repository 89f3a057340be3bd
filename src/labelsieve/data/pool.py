"""The pool of points to label: features or images, and an id for each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from labelsieve.errors import DataError
from labelsieve.types import Array, Ints, to_numpy

_CHECK_BYTES = 64 * 2**20
_SAMPLED_ROWS = 1000


class Pool:
    """Points to label, by row: features (n, d), grey images (n, h, w) or colour images (n, h, w, c).

    ``ids`` names the points to annotators and in the output; if not given, the index of a DataFrame or
    else row numbers. A pool has no labels:
    those are reached only by asking an annotator.
    """

    def __init__(self, data: Any, ids: Iterable[Any] | None = None, *, name: str = "pool") -> None:
        self.data = as_points(data, name)
        if ids is None:
            ids = data.index if hasattr(data, "columns") else range(len(self.data))
        self.ids = np.asarray(list(ids))
        if len(self.ids) != len(self.data):
            raise DataError(
                f"ids must name each point of the {name} once; got {len(self.ids)} ids for {len(self.data)} points."
            )
        if self.ids.ndim != 1 or self.ids.dtype.kind not in "iuU":
            raise DataError(f"ids must be strings or integers; got {self.ids.dtype} of shape {self.ids.shape}.")
        values, counts = np.unique(self.ids, return_counts=True)
        if len(values) != len(self.ids):
            repeated = values[counts > 1]
            raise DataError(
                f"ids must be unique; {len(repeated)} occur more than once, the first is {repeated[0].item()!r}. "
                "Give each point an id of its own, or leave ids out to use row numbers."
            )

    def __len__(self) -> int:
        return len(self.data)

    @property
    def point_shape(self) -> tuple[int, ...]:
        """Shape of one point."""
        return tuple(self.data.shape[1:])

    def fingerprint(self) -> str:
        """Short hash of the ids, the shape and a sample of the points: tells one pool from another."""
        digest = hashlib.sha256(f"{self.data.shape} {self.data.dtype}".encode())
        digest.update(self.ids.tobytes())
        digest.update(np.ascontiguousarray(self.data[:: max(1, len(self) // _SAMPLED_ROWS)]).tobytes())
        return digest.hexdigest()[:12]

    def take(self, rows: Ints) -> Array:
        """The points at these rows."""
        return np.asarray(self.data[rows])


def as_pool(data: Any) -> Pool:
    """The pool itself, or one made of an array."""
    return data if isinstance(data, Pool) else Pool(data)


def as_points(data: Any, name: str) -> Array:
    """Checked numeric array of 2 to 4 dimensions without NaN or infinity; nothing is copied if it is one."""
    try:
        points = to_numpy(data)
    except ValueError as error:
        raise DataError(f"The {name} must be one array, every point of the same shape: {error}") from error
    if points.ndim not in (2, 3, 4):
        raise DataError(
            f"The {name} must be features (n, d), grey images (n, h, w) or colour images (n, h, w, c); "
            f"got an array of shape {points.shape}."
            + (" Use x.reshape(-1, 1) for one feature per point." if points.ndim == 1 else "")
        )
    if len(points) == 0 or 0 in points.shape:
        raise DataError(f"The {name} must hold at least one point with at least one value; got {points.shape}.")
    if points.dtype.kind not in "buif":
        raise DataError(
            f"The {name} must be numeric; got dtype {points.dtype}. Turn texts and categories into numbers first."
        )
    if points.dtype.kind == "f":
        _refuse_non_finite(points, name)
    return points


def _refuse_non_finite(points: Array, name: str) -> None:
    """In chunks, so that the check itself needs no second copy of a large pool."""
    step = max(1, _CHECK_BYTES // max(1, points[0].nbytes))
    bad_rows: list[int] = []
    for start in range(0, len(points), step):
        chunk = points[start : start + step]
        finite = np.isfinite(chunk.reshape(len(chunk), -1)).all(axis=1)
        bad_rows.extend((start + np.flatnonzero(~finite)).tolist())
    if bad_rows:
        shown = ", ".join(map(str, bad_rows[:5])) + (", …" if len(bad_rows) > 5 else "")
        raise DataError(
            f"The {name} must hold finite numbers; {len(bad_rows)} of {len(points)} points have NaN or infinity "
            f"(rows {shown}). Fill them in or leave those points out."
        )
