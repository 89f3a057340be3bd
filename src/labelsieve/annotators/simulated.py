"""Answers from labels that are already there, for experiments and rehearsals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from labelsieve.data.classes import label_list
from labelsieve.errors import DataError
from labelsieve.types import Array


class SimulatedAnnotator:
    """Answers from ``y``: an array by row number, a mapping by id, or an array with ``ids`` beside it.

    ``asked`` lists every id it was asked for, in order.
    """

    def __init__(self, y: Any, ids: Iterable[Any] | None = None) -> None:
        self.name = "simulated"
        self.asked: list[Any] = []
        if isinstance(y, Mapping):
            self._labels = dict(y)
        else:
            labels = label_list(y)
            names = list(range(len(labels))) if ids is None else np.asarray(list(ids)).tolist()
            if len(names) != len(labels):
                raise DataError(f"SimulatedAnnotator needs one label per id; got {len(labels)} and {len(names)} ids.")
            self._labels = dict(zip(names, labels, strict=True))

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
