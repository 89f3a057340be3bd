"""The points of a run: rows of the pool, and after them rows of validation data given up front."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from labelsieve.data.pool import Pool
from labelsieve.seeding import generator
from labelsieve.types import Array, Ints


class Points:
    """Pool and given validation data as one, in an order of reading that does not tell them apart.

    The last digits of a score depend on the batch it was computed in. So held-out and pool points are scored in one
    pass, in one type of numbers, given ones at random places among the pool's: where many points tie, a digit must not
    say who is held out.
    """

    def __init__(self, pool: Pool, given: Pool | None, seed: int) -> None:
        self._pool = pool
        self._given = given
        n_given = 0 if given is None else len(given)
        places = generator(seed, "places of given points").uniform(0, len(pool), size=n_given)
        self._key = np.r_[np.arange(len(pool), dtype=np.float64), places] if n_given else None
        self._dtype = np.result_type(*(part.source.dtype for part in (pool, given) if part is not None))

    def same_as(self, other: Points) -> bool:
        """Whether both are the same data, read in the same order."""
        same_key = self._key is other._key or np.array_equal(self._key, other._key)  # type: ignore[arg-type]
        return self._pool is other._pool and self._given is other._given and same_key

    def reading_order(self, points: Ints) -> Ints:
        """How to sort these points so that ``chunks`` may read them."""
        return np.argsort(points if self._key is None else self._key[points], kind="stable")

    def take(self, points: Ints) -> Array:
        """These points, in whatever order."""
        if self._given is None:
            return self._pool.take(points)
        given = points >= len(self._pool)
        taken = np.empty((len(points), *self._pool.point_shape), dtype=self._dtype)
        for part, own, before in ((self._pool, ~given, 0), (self._given, given, len(self._pool))):
            if own.any():
                taken[own] = part.take(points[own] - before)
        return taken

    def chunks(self, points: Ints) -> Generator[Array, None, None]:
        """These points, which lie in reading order, a chunk at a time."""
        if self._given is None:
            yield from self._pool.chunks(points)
            return
        size = self._pool.chunk_size
        for start in range(0, len(points), size):
            yield self.take(points[start : start + size])
