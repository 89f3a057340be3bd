"""What every query strategy shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from sklearn.base import BaseEstimator

from labelsieve.errors import ConfigurationError
from labelsieve.types import Array, Floats, Ints, Outputs


@dataclass(frozen=True, eq=False)
class Selection:
    """Which candidates to ask about, and with what probability each of them was chosen."""

    rows: Ints
    probabilities: Floats


class Query(ABC, BaseEstimator):  # type: ignore[misc]
    """Chooses the next points to ask about.

    To add a strategy: one file here with a subclass that implements ``summary`` (what it needs to know of each
    point; called chunk by chunk, so that the pool's outputs are never in memory as a whole) and ``_select``;
    one line in ``registry.py``, which also puts it through ``tests/contracts``; one row in ``docs/methods.md``.
    Strategies see the model's own softmax, never the learned confidence, and no labels.
    """

    @abstractmethod
    def summary(self, outputs: Outputs) -> Array:
        """One row per point of what ``_select`` needs."""

    @final
    def select(self, candidates: Array, trained: Array, n: int, rng: np.random.Generator) -> Selection:
        """Choose n rows of ``candidates``; ``trained`` is the summary of the points already in training."""
        if not 0 < n <= len(candidates):
            raise ConfigurationError(f"A query must ask for 1 to {len(candidates)} points; got {n}.")
        selection = self._select(candidates, trained, n, rng)
        rows = np.asarray(selection.rows)
        if len(rows) != n or len(np.unique(rows)) != n or rows.min() < 0 or rows.max() >= len(candidates):
            raise ConfigurationError(
                f"{type(self).__name__} must choose {n} different rows from 0 to {len(candidates) - 1}; it returned "
                f"{len(rows)} rows, {len(np.unique(rows))} of them different."
            )
        return selection

    @abstractmethod
    def _select(self, candidates: Array, trained: Array, n: int, rng: np.random.Generator) -> Selection: ...


class LowestFirst(Query):
    """Strategies that take the n points with the lowest summary value, ties in pool order."""

    @final
    def _select(self, candidates: Array, trained: Array, n: int, rng: np.random.Generator) -> Selection:
        return Selection(rows=lowest(candidates, n), probabilities=np.ones(n))


def lowest(values: Array, n: int) -> Ints:
    """Rows of the n lowest values in order; only the candidates for them are sorted, so O(pool) for small n."""
    if n < len(values):
        cut = np.partition(values, n - 1)[n - 1]
        rows = np.flatnonzero(values <= cut)
    else:
        rows = np.arange(len(values))
    return rows[np.argsort(values[rows], kind="stable")][:n]
