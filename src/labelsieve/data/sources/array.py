"""Points in an array that is in memory or mapped into it."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from labelsieve.data.sources.base import Chunks, Source, as_index
from labelsieve.errors import DataError
from labelsieve.types import Array, Ints, to_numpy


def array_source(data: Any, name: str) -> Source:
    """Anything numpy takes for an array; nothing is copied if it is one."""
    if isinstance(data, np.memmap):
        return MappedArray(data)
    try:
        return ArrayInMemory(to_numpy(data))
    except ValueError as error:
        raise DataError(f"The {name} must be one array, every point of the same shape: {error}") from error


class ArrayInMemory(Source):
    """A numpy array; chunks without gaps are views of it."""

    def __init__(self, data: Array) -> None:
        self._data = data
        self.shape, self.dtype = data.shape, data.dtype

    def _chunks(self, rows: Ints, size: int) -> Chunks:
        for start in range(0, len(rows), size):
            yield self._data[as_index(rows[start : start + size])]


class MappedArray(Source):
    """An array of a file that was mapped into memory (``np.load(path, mmap_mode="r")``)."""

    def __init__(self, data: np.memmap[Any, Any]) -> None:
        self._data = data
        self.shape, self.dtype = data.shape, data.dtype.newbyteorder("=")

    def _chunks(self, rows: Ints, size: int) -> Chunks:
        yield from mapped_chunks(self._data, rows, size)


def mapped_chunks(data: np.memmap[Any, Any], rows: Ints, size: int) -> Chunks:
    """Copies of the rows, in native byte order, so that reading happens here and not where a view is first used.

    A page that was touched counts as memory of this process until it is given back, which therefore happens after
    each chunk: otherwise a pool would end up in memory as a whole.
    """
    native = data.dtype.newbyteorder("=")
    for start in range(0, len(rows), size):
        points = np.array(data[as_index(rows[start : start + size])], dtype=native, order="C")
        _give_back_pages(data)
        yield points


def _give_back_pages(data: np.memmap[Any, Any]) -> None:
    """Not of a private map (mode "c"), whose pages may hold changes that are nowhere else."""
    mapped = getattr(data, "_mmap", None)
    if mapped is not None and data.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
