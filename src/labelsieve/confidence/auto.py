"""The confidence function that would have let most through."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from labelsieve.confidence.base import ConfidenceFunction, top_probability
from labelsieve.confidence.evidence import Evidence
from labelsieve.expectation import area_under_risk, coverage_at, coverage_expected_at
from labelsieve.fitting.threads import threads_for
from labelsieve.types import Bools, Floats, Ints, Outputs

_SURE = 1e-12


class Auto(ConfidenceFunction):
    """Softmax, or ``Evidence`` where that lets more through at the tolerance.

    Both are judged on the training points, each predicted by a classifier that has not seen it and scored by a
    regression that has not seen it either. No validation label is used, so all of them are left to the thresholds.

    tolerance: None means the run's.
    folds: as in ``Evidence``.
    """

    warns_of_fallback: ClassVar[bool] = False

    def __init__(self, tolerance: float | None = None, folds: int = 4, random_state: int | None = None) -> None:
        self.tolerance = tolerance
        self.folds = folds
        self.random_state = random_state

    @property
    def training_folds(self) -> int:
        return self.folds

    def check_parameters(self) -> None:
        Evidence(self.folds).check_parameters()

    def expected_coverage(self, scores: Floats, tolerance: float) -> float | None:
        if self.fallback_:
            return None
        if self.evidence_ is not None:
            return self.evidence_.expected_coverage(scores, tolerance)
        return coverage_expected_at(tolerance, self.calibration_.predict_proba(_log_odds(scores))[:, 1])

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        tolerance = 0.05 if self.tolerance is None else self.tolerance
        right, evidence = outputs.predicted == y, Evidence(self.folds, random_state=self.random_state)
        unseen = {"softmax": top_probability(outputs)}
        by_evidence = evidence.cross_validated(outputs, y)
        if by_evidence is not None:
            unseen["evidence"] = by_evidence
        judged = {name: _merit(scores, right, tolerance) for name, scores in unseen.items()}
        chosen = max(judged, key=lambda name: judged[name])  # softmax, if they are equal
        self.evidence_ = evidence.fit(outputs, y) if chosen == "evidence" else None
        with threads_for(len(y)):
            self.calibration_ = LogisticRegression().fit(_log_odds(unseen["softmax"]), right)
        coverages = " and ".join(f"{100 * coverage:.1f} % with {name}" for name, (coverage, _) in judged.items())
        self.choice_ = (
            f"{chosen}. Of the {len(y):,} training points, each judged by a model that had not seen it, {coverages} "
            f"could be labelled at an error of {100 * tolerance:g} %"
        )

    def _score(self, outputs: Outputs) -> Floats:
        return top_probability(outputs) if self.evidence_ is None else self.evidence_.score(outputs)


def _merit(scores: Floats, right: Bools, tolerance: float) -> tuple[float, float]:
    """Coverage at the tolerance; where that is equal, the order of all points."""
    return coverage_at(tolerance, scores, right), -area_under_risk(scores, right)


def _log_odds(probabilities: Floats) -> Floats:
    return np.asarray(logit(np.clip(probabilities, _SURE, 1 - _SURE)))[:, None]
