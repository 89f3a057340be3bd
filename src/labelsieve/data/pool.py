"""The pool of points to label: features or images, in memory or on disk, and an id for each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np

from labelsieve.data.sources import as_source
from labelsieve.data.sources.base import Chunks, Source
from labelsieve.errors import DataError
from labelsieve.types import Array, Ints

_CHUNK_BYTES = 32 * 2**20
_LARGEST_CHUNK = 8192
"""In points: what a model says about one may take far more room than the point itself."""
_SAMPLED_ROWS = 1000


class Pool:
    """Points to label, by row: features (n, d), grey images (n, h, w) or colour images (n, h, w, c).

    ``data`` is an array, or the path of a .npy file, of a .parquet file (one feature per column, or one column of lists
    of fixed size), or of a folder of images; files are read in pieces, whenever they are needed.

    ``ids`` names the points to annotators and in the output; if not given, what the data bring along (the index of a
    DataFrame, the column ``id`` of a Parquet file, the paths of images), or else row numbers. A pool has no labels:
    those are reached only by asking an annotator. ``identity``: what the points were computed from, for points of which
    another machine would compute other last digits. ``as_it_is``: nothing else is to be made of the points, such as
    what a network sees in photographs.
    """

    def __init__(
        self,
        data: Any,
        ids: Iterable[Any] | None = None,
        *,
        name: str = "pool",
        identity: str | None = None,
        as_it_is: bool = False,
    ) -> None:
        self._identity = identity
        self.as_it_is = as_it_is
        self._seen: dict[str, Pool] = {}
        self.source = as_source(data, name)
        _refuse_unusable(self.source, name)
        if ids is None:
            ids = data.index if hasattr(data, "columns") else self.source.ids
        self.ids = np.arange(len(self)) if ids is None else _checked_ids(ids, len(self), name)

    def __len__(self) -> int:
        return self.source.shape[0]

    def seen(self, device: str) -> Pool:
        """The same points, images in colour, as a pretrained network sees them: one pool, however often it is asked
        for, so that the network looks once."""
        if device not in self._seen:
            from labelsieve.data.sources.seen_images import SeenImages

            seen = copy(self)
            seen.source, seen._seen = SeenImages(self.source, device), {}
            self._seen[device] = seen
        return self._seen[device]

    @property
    def point_shape(self) -> tuple[int, ...]:
        """Shape of one point."""
        return self.source.shape[1:]

    def fingerprint(self) -> str:
        """Short hash of the ids, the shape and a sample of the points: tells one pool from another, wherever kept."""
        digest = hashlib.sha256(f"{self.source.shape} {self.source.dtype}".encode())
        digest.update(self.ids.tobytes())
        if self._identity is not None:
            digest.update(self._identity.encode())
            return digest.hexdigest()[:12]
        sample = self.take(np.arange(0, len(self), max(1, len(self) // _SAMPLED_ROWS)))
        digest.update(sample.tobytes())
        return digest.hexdigest()[:12]

    def take(self, rows: Ints) -> Array:
        """The points at these rows."""
        return self.source.take(rows)

    def chunks(self, rows: Ints) -> Chunks:
        """The points at increasing rows, as many at a time as a model can take comfortably."""
        return self.source.chunks(rows, self.chunk_size)

    @property
    def chunk_size(self) -> int:
        """How many points a chunk has."""
        return _chunk_size(self.source)


def as_pool(data: Any) -> Pool:
    """The pool itself, or one made of an array or a path."""
    return data if isinstance(data, Pool) else Pool(data)


def _chunk_size(source: Source) -> int:
    """A power of two, so that the batches a network makes of a chunk are the same for points of any size."""
    point_bytes = int(np.prod(source.shape[1:])) * source.dtype.itemsize
    return min(_LARGEST_CHUNK, 1 << max(0, (_CHUNK_BYTES // point_bytes).bit_length() - 1))


def _refuse_unusable(source: Source, name: str) -> None:
    """Raise unless it holds numbers of 2 to 4 dimensions without NaN or infinity."""
    shape, dtype = source.shape, source.dtype
    if dtype.kind not in "buif":
        raise DataError(
            f"The {name} must be numeric; got dtype {dtype}. Give embeddings of texts, a row of numbers for each, and "
            "numbers in place of categories; or make a project, which does that for a file of yours: labelsieve init."
        )
    if len(shape) not in (2, 3, 4):
        raise DataError(
            f"The {name} must be features (n, d), grey images (n, h, w) or colour images (n, h, w, c); "
            f"got an array of shape {shape}."
            + (" Use x.reshape(-1, 1) for one feature per point." if len(shape) == 1 else "")
        )
    if 0 in shape:
        raise DataError(f"The {name} must hold at least one point with at least one value; got {shape}.")
    if dtype.kind == "f" or source.may_have_gaps:
        _refuse_non_finite(source, name)


def _refuse_non_finite(source: Source, name: str) -> None:
    """One pass over all points, a chunk at a time, when the pool is opened.

    Files too are read to their end for it, although each chunk could be checked when it is first scored: by then people
    would have been asked for labels. The pass costs a few percent of scoring the pool once.
    """
    finite = np.concatenate(
        [
            np.isfinite(chunk.reshape(len(chunk), -1)).all(axis=1)
            for chunk in source.chunks(np.arange(source.shape[0]), _chunk_size(source))
        ]
    )
    if not finite.all():
        bad_rows = np.flatnonzero(~finite)
        shown = ", ".join(map(str, bad_rows[:5])) + (", …" if len(bad_rows) > 5 else "")
        raise DataError(
            f"The {name} must hold finite numbers; {len(bad_rows)} of {source.shape[0]} points have NaN or infinity "
            f"(rows {shown}). Fill them in or leave those points out."
        )


def _checked_ids(ids: Iterable[Any], n_points: int, name: str) -> Array:
    """As one array of integers or strings, each of them once."""
    checked = np.asarray(ids) if hasattr(ids, "dtype") else np.asarray(list(ids))
    if checked.dtype == object:  # where pandas keeps strings
        checked = np.asarray(checked.tolist())
    if len(checked) != n_points:
        raise DataError(f"ids must name each point of the {name} once; got {len(checked)} ids for {n_points} points.")
    if checked.ndim != 1 or checked.dtype.kind not in "iuU":
        raise DataError(f"ids must be strings or integers; got {checked.dtype} of shape {checked.shape}.")
    in_order = np.sort(checked)
    repeated = np.unique(in_order[1:][in_order[1:] == in_order[:-1]])
    if len(repeated):
        raise DataError(
            f"ids must be unique; {len(repeated)} occur more than once, the first is {repeated[0].item()!r}. "
            "Give each point an id of its own, or leave ids out to use row numbers."
        )
    return checked
