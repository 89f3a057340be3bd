"""Points in an array that is in memory or mapped into it."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from labelsieve.data.sources.base import Chunks, Source, as_index
from labelsieve.errors import DataError
from labelsieve.types import Array, Ints, to_numpy


class ArraySource(Source):
    """Anything numpy takes for an array, ``np.load(path, mmap_mode="r")`` included; kept as it is, not copied."""

    def __init__(self, data: Any, name: str) -> None:
        try:
            self._data = data if isinstance(data, np.memmap) else to_numpy(data)
        except ValueError as error:
            raise DataError(f"The {name} must be one array, every point of the same shape: {error}") from error
        self.shape, self.dtype = self._data.shape, self._data.dtype.newbyteorder("=")

    def _chunks(self, rows: Ints, size: int) -> Chunks:
        return copied_chunks(self._data, rows, size)


def copied_chunks(data: Array, rows: Ints, size: int) -> Chunks:
    """Copies in native byte order: nobody can change the pool through them, and a file that is mapped into memory is
    read here and not where a view of it is first used.

    A page of a map that was touched counts as memory of this process until it is given back, which therefore happens
    after each chunk: otherwise the pool would end up in memory as a whole.
    """
    native = data.dtype.newbyteorder("=")
    for start in range(0, len(rows), size):
        points = np.array(data[as_index(rows[start : start + size])], dtype=native, order="C")
        if isinstance(data, np.memmap):
            _give_back_pages(data)
        yield points


def _give_back_pages(data: np.memmap[Any, Any]) -> None:
    """Not of a private map (mode "c"), whose pages may hold changes that are nowhere else."""
    mapped = getattr(data, "_mmap", None)
    if mapped is not None and data.mode != "c" and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
