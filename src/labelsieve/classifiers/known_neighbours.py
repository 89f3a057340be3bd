"""Neighbours of points that are asked about again and again, among points that stay nearly the same."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

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
    for there. The answer is the same as if nothing had been remembered.
    """

    def __init__(self, x: Array, k: int) -> None:
        """``x``: some of the points that will be in the set. ``k``: the most neighbours that will be asked for."""
        self._k = k
        # Where most points lie, so that one far out does not cost the others their digits.
        self._centre = np.median(x[:: 1 + len(x) // _CENTRED_BY].astype(_wide(x)), axis=0)
        self._set: Floats = np.empty((0, x.shape[1]), dtype=np.float32)
        self._number_of: dict[tuple[bytes, int], int] = {}
        self._entry_of: dict[bytes, int] = {}
        self._distances: Floats = np.empty((0, 2 * k), dtype=np.float32)
        self._nearest: Ints = np.empty((0, 2 * k), dtype=np.int64)
        self._compared: Ints = np.empty(0, dtype=np.int64)

    def can_hold(self, x: Array, k: int) -> bool:
        """Whether these points could be in the set, and so many neighbours be asked for."""
        return x.shape[1] == self._set.shape[1] and k <= self._k

    def add(self, x: Array, most: float = np.inf) -> Ints | None:
        """The numbers of these points in the set, where those that are new have been put. Twins have one each.

        None, and nothing is added, if the set would then have more than ``most`` points.
        """
        rows = self._centred(x)
        seen: Counter[bytes] = Counter()
        numbers = np.empty(len(rows), dtype=np.int64)
        new: dict[tuple[bytes, int], tuple[int, int]] = {}
        for row, name in enumerate(_names(rows)):
            key = name, seen[name]
            seen[name] += 1
            number = self._number_of.get(key)
            if number is None:
                number = len(self._set) + len(new)
                new[key] = number, row
            numbers[row] = number
        if len(self._set) + len(new) > most:
            return None
        self._number_of |= {key: number for key, (number, _) in new.items()}
        self._set = np.concatenate([self._set, rows[[row for _, row in new.values()]]])
        return numbers

    def among(self, graph: Ints, x: Array, k: int, own: Ints | None = None) -> tuple[Floats, Ints]:
        """Distances (n, k) to the nearest points of the graph, and their places in it.

        ``graph``: numbers of its points. ``own``: those of the points asked about, to leave each out of its own.
        """
        rows = self._centred(x)
        place = np.full(len(self._set) + 1, -1)  # the last: of those there are not
        place[graph] = np.arange(len(graph))
        distances, numbers = self._of(rows)
        places = place[numbers]
        if own is not None:
            places[numbers == own[:, None]] = -1
        first = np.argsort(places < 0, axis=1, kind="stable")[:, :k]
        distances, places = np.take_along_axis(distances, first, axis=1), np.take_along_axis(places, first, axis=1)
        short = np.flatnonzero((places < 0).any(axis=1))
        if len(short):
            own_place = None if own is None else place[own[short]]
            distances[short], places[short] = _in_full(rows[short], self._set[graph], k, own_place)
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
            far, which = nearest(rows[behind], added, min(2 * self._k, len(added)))
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

    def _centred(self, x: Array) -> Floats:
        centred: Floats = x.astype(_wide(x)) - self._centre
        return np.clip(centred, -_FARTHEST, _FARTHEST).astype(np.float32)


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


def _in_full(rows: Floats, graph: Floats, k: int, own: Ints | None) -> tuple[Floats, Ints]:
    """Distances to the k nearest of a graph and their places, but for each point's own."""
    if own is None:
        return nearest(rows, graph, k)
    distances, places = nearest(rows, graph, k + 1)
    first = np.argsort(places == own[:, None], axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, first, axis=1), np.take_along_axis(places, first, axis=1)


def _names(rows: Floats) -> list[bytes]:
    """Of each point, the same for the same point."""
    return [blake2b(row, digest_size=16).digest() for row in rows]


def _wide(x: Array) -> np.dtype:
    """Numbers that do not overflow when they are subtracted, as bytes would."""
    return np.result_type(x.dtype, np.float32)
