"""Answers from labels that are already there, for experiments and rehearsals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from labelsieve.errors import DataError
from labelsieve.types import Array, to_numpy


class SimulatedAnnotator:
    """Answers from ``y``: an array by row number, a mapping by id, or an array with ``ids`` beside it.

    ``asked`` lists every id it was asked for, in order.
    """

    def __init__(self, y: Any, ids: Iterable[Any] | None = None) -> None:
        self.name = "simulated"
        self.asked: list[Any] = []
        if isinstance(y, Mapping):
            self._labels = dict(y)
        elif ids is not None:
            self._labels = dict(zip(np.asarray(list(ids)).tolist(), to_numpy(y).tolist(), strict=True))
        else:
            self._labels = dict(enumerate(to_numpy(y).tolist()))

    def label(self, ids: Array) -> list[Any]:
        wanted = np.asarray(ids).tolist()
        unknown = [id_ for id_ in wanted if id_ not in self._labels]
        if unknown:
            raise DataError(
                f"SimulatedAnnotator has labels for {len(self._labels)} ids, but not for {unknown[0]!r} "
                f"and {len(unknown) - 1} others. Give it one label per point of the pool, with the pool's ids."
            )
        self.asked.extend(wanted)
        return [self._labels[id_] for id_ in wanted]
