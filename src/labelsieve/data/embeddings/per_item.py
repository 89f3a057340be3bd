"""Expensive work on single items: done once per item, a chunk at a time, kept after each chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from labelsieve.data.embeddings.base import Contents, ItemModel, Progress
from labelsieve.data.embeddings.record_cache import RecordCache
from labelsieve.errors import DataError
from labelsieve.types import Array, Bools

_BATCHES_PER_CHUNK = 8
_LARGEST_CHUNK_BYTES = 64 * 2**20
_ROWS_AT_ONCE = 1000


def kept_results(
    model: ItemModel,
    contents: Contents,
    digests: Array,
    folder: Path,
    read: Callable[[str], bytes],
    what: str,
    progress: Progress,
) -> RecordCache:
    """The results for all items; those that are not kept from an earlier run are computed. Equal items count once."""
    cache = RecordCache(folder, model.identity, model.shape, model.dtype)
    _, first_rows = np.unique(np.ascontiguousarray(digests).view("S32").reshape(-1), return_index=True)
    missing = np.zeros(len(digests), dtype=bool)
    missing[first_rows] = ~cache.has(digests[first_rows])
    total = len(first_rows)
    done = total - int(missing.sum())
    progress(what, done, total)
    for rows, items in _gathered(contents, missing, read, model.batch_size * _BATCHES_PER_CHUNK):
        for row, item in zip(rows, items, strict=True):
            if hashlib.sha256(item).digest() != digests[row].tobytes():
                raise DataError(
                    f"The data must not change while features are computed; row {row} has. Start again: what was "
                    "computed so far is kept."
                )
        values = np.empty((len(items), *model.shape), dtype=model.dtype)
        by_length = np.argsort([len(item) for item in items], kind="stable")  # texts of like length need no padding
        for start in range(0, len(items), model.batch_size):
            batch = by_length[start : start + model.batch_size]
            values[batch] = model.compute([items[place] for place in batch])
            progress(what, done + start + len(batch), total)
        _refuse_non_finite(values, rows, model)
        cache.append(digests[rows], values)
        done += len(items)
    return cache


def rows_of(cache: RecordCache, digests: Array) -> Iterator[Array]:
    """The kept results of all rows, in order."""
    for start in range(0, len(digests), _ROWS_AT_ONCE):
        yield cache.take(digests[start : start + _ROWS_AT_ONCE])


def _gathered(
    contents: Contents, missing: Bools, read: Callable[[str], bytes], size: int
) -> Iterator[tuple[list[int], list[bytes]]]:
    """The missing items, ``size`` at a time or as many as fit comfortably into memory."""
    rows: list[int] = []
    items: list[bytes] = []
    if not missing.any():
        return
    row = start = int(np.argmax(missing))
    for chunk in contents.chunks(start):
        for content in chunk:
            if row < len(missing) and missing[row]:
                rows.append(row)
                items.append(read(content))
                if len(items) == size or sum(map(len, items)) >= _LARGEST_CHUNK_BYTES:
                    yield rows, items
                    rows, items = [], []
            row += 1
    if items:
        yield rows, items


def _refuse_non_finite(values: Array, rows: list[int], model: ItemModel) -> None:
    if values.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
        if len(bad):
            raise DataError(
                f"A model must give finite numbers; {model.identity} gives others for row {rows[bad[0]]}. "
                "Choose another model, or leave that item out."
            )
