"""How wrong the classifier may turn out to be, from its surest predictions to its least sure.

A scenario is a row of error rates, one per band of equally many points, surest first. All come from the binormal model:
scores of right and of wrong predictions are normal with equal spread, so that accuracy and AUROC (the probability that
a right prediction scores above a wrong one) say everything. A pilot gives both with their uncertainty by resampling;
its raw error counts would be too hopeful, since a hundred points often show no error at all where 3 % are wrong.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from labelsieve.planner.pilot import Pilot
from labelsieve.types import Bools, Floats

ASSUMED_ACCURACY, ASSUMED_AUROC = (0.70, 0.99), (0.80, 0.95)
SCENARIOS, BANDS = 400, 200


def assumed(accuracy: tuple[float, float], bands: int, rng: np.random.Generator) -> Floats:
    """Scenarios with accuracy and AUROC drawn evenly from their ranges."""
    return _stacked(rng.uniform(*accuracy, SCENARIOS), rng.uniform(*ASSUMED_AUROC, SCENARIOS), bands)


def resampled(pilot: Pilot, bands: int, rng: np.random.Generator) -> Floats:
    """One scenario per bootstrap sample of the pilot.

    Half an error is added, so that a pilot without one does not stand for a classifier without any; a sample in which
    all are right, or all wrong, says nothing about AUROC, which is then drawn from the assumed range.
    """
    accuracy, auroc = np.empty(SCENARIOS), rng.uniform(*ASSUMED_AUROC, SCENARIOS)
    for number in range(SCENARIOS):
        rows = rng.integers(len(pilot), size=len(pilot))
        right = pilot.correct[rows]
        accuracy[number] = (right.sum() + 0.5) / (len(pilot) + 1)
        observed = area_under_curve(pilot.scores[rows], right)
        if observed is not None:
            auroc[number] = observed
    return _stacked(accuracy, auroc, bands)


def area_under_curve(scores: Floats, correct: Bools) -> float | None:
    """AUROC of right against wrong predictions, ties counted half; half a pair is added either way, which keeps it
    off 0 and 1. None where all are right or all wrong."""
    right = int(correct.sum())
    wrong = len(correct) - right
    if not right or not wrong:
        return None
    pairs_won = float(rankdata(scores)[correct].sum()) - right * (right + 1) / 2
    return (pairs_won + 0.5) / (right * wrong + 1)


def band_errors(accuracy: float, auroc: float, bands: int) -> Floats:
    """Error rate of each band of the binormal model, surest first."""
    gap = np.sqrt(2) * ndtri(auroc)
    cut = np.linspace(max(gap, 0) + 6, min(gap, 0) - 6, 800)
    above = accuracy * ndtr(gap - cut) + (1 - accuracy) * ndtr(-cut)
    wrong_above = np.interp(np.arange(1, bands) / bands, above, (1 - accuracy) * ndtr(-cut))
    return np.asarray(np.clip(np.diff(np.r_[0, wrong_above, 1 - accuracy]) * bands, 0, 1))


def _stacked(accuracy: Floats, auroc: Floats, bands: int) -> Floats:
    return np.array([band_errors(a, area, bands) for a, area in zip(accuracy, auroc, strict=True)])
