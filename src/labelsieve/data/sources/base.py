"""What every place that keeps points shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import closing
from typing import Any, ClassVar, final

import numpy as np

from labelsieve.errors import DataError
from labelsieve.types import Array, Ints

Chunks = Generator[Array, None, None]


class Source(ABC):
    """Points by row, wherever they are kept.

    To add one: a file here with a subclass that sets ``shape`` (n, *shape of a point), ``dtype`` and, if it knows
    names for its points, ``ids``, and that implements ``_chunks``; a line in ``sources/__init__.py``. A source on
    disk has no more than a chunk of points in memory, and nothing open between calls.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    ids: Array | None = None
    may_have_gaps: ClassVar[bool] = False
    """Whether a value can be missing, whatever its type; reading it then raises ``DataError``."""

    @final
    def take(self, rows: Ints) -> Array:
        """The points at these rows: in any order, repeats allowed."""
        rows = np.asarray(rows)
        if not len(rows):
            return np.empty((0, *self.shape[1:]), dtype=self.dtype)
        wanted, places = np.unique(rows, return_inverse=True)
        in_order = len(wanted) == len(rows) and bool((wanted == rows).all())
        with closing(self.chunks(wanted, len(wanted))) as chunks:
            points = next(chunks)
        return points if in_order else points[places]

    @final
    def chunks(self, rows: Ints, size: int) -> Chunks:
        """The points at increasing rows, ``size`` at a time; neighbouring rows are read in one go."""
        if len(rows) and not (rows[0] >= 0 and rows[-1] < self.shape[0] and (rows[1:] > rows[:-1]).all()):
            raise DataError(
                f"Rows must be increasing and lie between 0 and {self.shape[0] - 1}; got {rows[0]} to {rows[-1]}."
            )
        return self._chunks(rows, size)

    @abstractmethod
    def _chunks(self, rows: Ints, size: int) -> Chunks: ...


def as_index(rows: Ints) -> Ints | slice:
    """Increasing rows, as a slice if there is no gap between them: numpy then reads in one go."""
    first, end = int(rows[0]), int(rows[-1]) + 1
    return slice(first, end) if end - first == len(rows) else rows
