"""Neighbours of points that are asked about again and again, among points that stay nearly the same."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from labelsieve.classifiers.nearest import nearest
from labelsieve.types import Array, Floats, Ints

MOST_REMEMBERED = 200_000
"""Points whose neighbours are kept, 12 bytes for each of them and each neighbour. Others are looked up every time."""
_MOST_UNUSED = 1.5
"""Size of the set over that of a graph in it, from which on it is not worth keeping."""
_CENTRED_BY = 1000
_FARTHEST = 1e15
"""Squares of larger numbers are none in single precision."""


class KnownNeighbours:
    """A set of points that grows, and for each point that was asked about the nearest of the set.

    A run draws a graph in every round and for every fold, over nearly the same points, and asks about the same points
    each time. So neighbours are looked for once, later only among what has been added, and of them those that are in
    the graph in question are taken. Twice as many as needed are kept: should too few of these be in it, they are looked
    for there. The answer is the same as if nothing had been remembered: a run that was cut off has forgotten it all.
    (Only where different points are equally far may it take another of them.)
    """

    def __init__(self, x: Array, k: int) -> None:
        """``x``: some of the points that will be in the set. ``k``: the most neighbours that will be asked for."""
        self._k = k
        self._set: Floats = np.empty((0, x.shape[1]), dtype=np.result_type(x.dtype, np.float32))
        self._centre = np.median(self._as_rows(x[:: 1 + len(x) // _CENTRED_BY]), axis=0)
        self._number_of: dict[bytes, int] = {}
        self._entry_of: dict[bytes, int] = {}
        self._distances: Floats = np.empty((0, 2 * k), dtype=np.float32)
        self._nearest: Ints = np.empty((0, 2 * k), dtype=np.int64)
        self._compared: Ints = np.empty(0, dtype=np.int64)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """On a cluster arrays arrive as they lie in memory that others read, too: what is written to must be a copy."""
        self.__dict__ |= state
        for name in ("_distances", "_nearest", "_compared"):
            setattr(self, name, np.require(getattr(self, name), requirements="W"))

    def can_hold(self, x: Array, k: int) -> bool:
        """Whether these points could be in the set, and so many neighbours be asked for."""
        return x.shape[1] == self._set.shape[1] and k <= self._k

    def add(self, x: Array, most: float = np.inf) -> Ints | None:
        """The numbers of these points in the set, where those that are new have been put. Twins have one number.

        None, and nothing is added, if the set would then have more than ``most`` points.
        """
        rows = self._as_rows(x)
        numbers = np.empty(len(rows), dtype=np.int64)
        new: dict[bytes, int] = {}
        new_rows: list[int] = []
        for row, name in enumerate(_names(rows)):
            number = self._number_of.get(name)
            if number is None:
                number = new.setdefault(name, len(self._set) + len(new))
                if number == len(self._set) + len(new_rows):
                    new_rows.append(row)
            numbers[row] = number
        if len(self._set) + len(new) > most:
            return None
        self._number_of |= new
        self._set = np.concatenate([self._set, rows[new_rows]])
        return numbers

    def among(self, graph: Ints, x: Array, k: int, own: bool = False) -> tuple[Floats, Ints]:
        """Distances (n, k) to the nearest points of the graph, and their places in it. Of twins, the first are nearer.

        ``graph``: numbers of its points. ``own``: the points asked about are those of the graph, and none is a
        neighbour of its own.
        """
        rows, own_places = self._as_rows(x), np.arange(len(x)) if own else np.full(len(x), -1)
        places_of = _places(graph, len(self._set) + 1, k + 1)  # the last: of those there are not
        distances, numbers = self._of(rows)
        farthest = distances[:, -1]
        distances, places = _first(distances, places_of[numbers], own_places, k)
        # Too few, or as far as some that may have been left out.
        short = np.flatnonzero((distances[:, -1] >= farthest) & np.isfinite(farthest))
        if len(short):
            members = np.unique(graph)
            far, which = nearest(rows[short], self._set[members], min(2 * self._k, len(members)), self._centre)
            distances[short], places[short] = _first(far, places_of[members[which]], own_places[short], k)
        return distances, places

    def _of(self, rows: Floats) -> tuple[Floats, Ints]:
        """The nearest of the whole set; number -1 where it has fewer."""
        names = _names(rows)
        entry = np.array([self._entry_of.get(name, -1) for name in names], dtype=np.int64)
        known = entry >= 0
        distances = np.full((len(rows), 2 * self._k), np.inf, dtype=np.float32)
        numbers = np.full(distances.shape, -1, dtype=np.int64)
        compared = np.zeros(len(rows), dtype=np.int64)
        distances[known], numbers[known] = self._distances[entry[known]], self._nearest[entry[known]]
        compared[known] = self._compared[entry[known]]
        for since in np.unique(compared[compared < len(self._set)]):
            behind, added = np.flatnonzero(compared == since), self._set[since:]
            far, which = nearest(rows[behind], added, min(2 * self._k, len(added)), self._centre)
            both = np.hstack([distances[behind], far]), np.hstack([numbers[behind], which + since])
            first = np.argsort(both[0], axis=1, kind="stable")[:, : 2 * self._k]
            distances[behind], numbers[behind] = (np.take_along_axis(part, first, axis=1) for part in both)
        self._remember(names, entry, distances, numbers)
        return distances, numbers

    def _remember(self, names: list[bytes], entry: Ints, distances: Floats, numbers: Ints) -> None:
        for row in np.flatnonzero(entry < 0):
            if len(self._entry_of) < MOST_REMEMBERED or names[row] in self._entry_of:
                entry[row] = self._entry_of.setdefault(names[row], len(self._entry_of))
        if len(self._entry_of) > len(self._compared):
            room = max(len(self._entry_of), min(2 * len(self._compared), MOST_REMEMBERED))
            self._distances, self._nearest, self._compared = (
                np.concatenate([part, np.empty((room - len(part), *part.shape[1:]), dtype=part.dtype)])
                for part in (self._distances, self._nearest, self._compared)
            )
        known = entry >= 0
        self._distances[entry[known]], self._nearest[entry[known]] = distances[known], numbers[known]
        self._compared[entry[known]] = len(self._set)

    def _as_rows(self, x: Array) -> Floats:
        """Numbers that do not overflow when they are subtracted, as bytes would, or squared."""
        rows: Floats = x.astype(np.result_type(x.dtype, self._set.dtype), order="C")
        return np.clip(rows, -_FARTHEST, _FARTHEST)


class Neighbourhoods:
    """What is known of neighbours, for all fits of one run."""

    def __init__(self) -> None:
        self._known: KnownNeighbours | None = None

    def with_graph(self, x: Array, k: int) -> tuple[KnownNeighbours, Ints]:
        """Where to look for at most k neighbours in a graph of these points, and their numbers there.

        Begins anew with points of which most are not known, as of another pool or on another scale.
        """
        known, numbers = self._known, None
        if known is not None and known.can_hold(x, k):
            numbers = known.add(x, _MOST_UNUSED * len(x))
        if known is None or numbers is None:
            self._known = known = KnownNeighbours(x, k)
            numbers = known.add(x)
        assert numbers is not None
        return known, numbers


def _places(graph: Ints, n: int, most: int) -> Ints:
    """The first few places of each number in a graph, -1 where there are fewer."""
    order = np.argsort(graph, kind="stable")
    numbers = graph[order]
    twin = np.arange(len(graph)) - np.searchsorted(numbers, numbers)
    places = np.full((n, min(most, int(twin.max()) + 1)), -1)
    kept = twin < most
    places[numbers[kept], twin[kept]] = order[kept]
    return places


def _first(distances: Floats, places: Ints, own: Ints, k: int) -> tuple[Floats, Ints]:
    """The k nearest of each row, in order; ``places`` (n, points, twins)."""
    usable = (places >= 0) & (places != own[:, None, None])
    far = np.where(usable, distances[:, :, None], np.inf).reshape(len(own), distances.shape[1] * places.shape[2])
    places = places.reshape(far.shape)
    order = np.lexsort((places, far))[:, :k]
    return np.take_along_axis(far, order, axis=1), np.take_along_axis(places, order, axis=1)


def _names(rows: Floats) -> list[bytes]:
    """Of each point, the same for the same point."""
    return [blake2b(row, digest_size=16).digest() for row in rows]
