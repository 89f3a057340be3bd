"""Counts above every candidate threshold, for all classes at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelsieve.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """One row per candidate: an observed score of a class, and what lies at or above it in that class.

    Rows are ordered by class, then from the highest score down. Tied scores make one row.
    """

    group: Ints
    threshold: Floats
    points: Ints
    errors: Ints
    group_size: Ints

    @property
    def error(self) -> Floats:
        """Share of wrong predictions at or above the threshold."""
        return self.errors / self.points

    @property
    def coverage(self) -> Floats:
        """Share of the class's points at or above the threshold."""
        return self.points / self.group_size


def risk_curve(scores: Floats, group: Ints, correct: Bools) -> RiskCurve:
    """All candidates by one sort and one running sum: O(n log n) however many classes."""
    order = np.lexsort((-scores, group))
    scores, group, wrong = scores[order], group[order], ~correct[order]
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]]) if len(group) else np.empty(0, np.int64)
    sizes = np.diff(np.r_[starts, len(group)])
    position = np.arange(len(group)) - np.repeat(starts, sizes)
    wrong_before = np.r_[0, np.cumsum(wrong)]
    errors = wrong_before[1:] - np.repeat(wrong_before[starts], sizes)
    last_of_tie = np.r_[(scores[1:] != scores[:-1]) | (group[1:] != group[:-1]), True][: len(group)]
    return RiskCurve(
        group=group[last_of_tie],
        threshold=scores[last_of_tie],
        points=(position + 1)[last_of_tie],
        errors=errors[last_of_tie],
        group_size=np.repeat(sizes, sizes)[last_of_tie],
    )
