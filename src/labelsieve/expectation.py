"""How much a score would let through, on points whose labels are known."""

from __future__ import annotations

import numpy as np

from labelsieve.types import Bools, Floats


def coverage_at(tolerance: float, scores: Floats, right: Bools) -> float:
    """Largest share of points, surest first, of which at most ``tolerance`` are wrong; ties go in together."""
    order = np.argsort(-scores, kind="stable")
    errors = np.cumsum(~right[order])
    taken = np.arange(1, len(order) + 1)
    last_of_tie = np.r_[np.diff(scores[order]) != 0, True] if len(order) else np.empty(0, dtype=bool)
    good = np.flatnonzero((errors <= tolerance * taken) & last_of_tie)
    return float(taken[good[-1]] / len(order)) if len(good) else 0.0


def coverage_expected_at(tolerance: float, probabilities: Floats) -> float:
    """The same for points whose labels are not known, from the probability that each is right."""
    wrong = np.cumsum(1 - np.sort(probabilities)[::-1])
    good = np.flatnonzero(wrong <= tolerance * np.arange(1, len(wrong) + 1))
    return float((good[-1] + 1) / len(wrong)) if len(good) else 0.0


def area_under_risk(scores: Floats, right: Bools) -> float:
    """AUGRC: share of all points that are both let through and wrong, averaged over coverages; lower is better."""
    errors = np.cumsum(~right[np.argsort(-scores, kind="stable")])
    return float(errors.mean() / len(errors)) if len(errors) else 0.0
