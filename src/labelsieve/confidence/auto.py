"""The confidence function that would have let most through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from labelsieve.confidence.base import ConfidenceFunction, log_odds, top_probability
from labelsieve.confidence.evidence import Evidence, evidence_columns, left_out_in_parts
from labelsieve.expectation import area_under_risk, coverage_at, coverage_expected_at
from labelsieve.fitting.threads import threads_for
from labelsieve.types import Bools, Floats, Ints, Outputs

_MISTAKES_PER_COLUMN = 10
_STRENGTHS = (0.001, 0.01, 0.1)
"""Of evidence that is held to softmax."""
_FEWEST_ALLOWED = 5
"""Mistakes among the training points at the tolerance; what lets more through at it shows in no fewer."""
_SURE = 1e-9


class Auto(ConfidenceFunction):
    """Softmax, or ``Evidence`` where that lets more through at the tolerance.

    Both are judged on the training points, each predicted by a classifier that has not seen it and scored by a
    regression that has not seen it either. With ``folds``, no validation label is used, so all of them are left to the
    thresholds.

    A regression on many columns needs mistakes to learn from, ten for each column by a common rule (Peduzzi et al.
    1996). With fewer it is held to softmax, as closely as left-out points cannot tell from the best: the one-standard-
    error rule (Breiman et al. 1984) on what it says of being right.

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
        if self.calibration_ is None:
            assert self.evidence_ is not None
            return self.evidence_.expected_coverage(scores, tolerance)
        return coverage_expected_at(tolerance, self.calibration_.predict_proba(log_odds(scores)[:, None])[:, 1])

    def coverage_to_test(self, scores: Floats, tolerance: float) -> float | None:
        """What is expected; with few mistakes to learn from that is too rough for softmax, whose test is then that of
        softmax alone."""
        if self.fallback_ or (self.few_mistakes_ and self.evidence_ is None):
            return None
        return self.expected_coverage(scores, tolerance)

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        right, plain = outputs.predicted == y, top_probability(outputs)
        self.few_mistakes_ = int((~right).sum()) < _MISTAKES_PER_COLUMN * evidence_columns(outputs).shape[1]
        evidence, unseen = self._held_to_softmax(outputs, y) if self.few_mistakes_ else self._free(outputs, y)
        self.evidence_ = None if evidence is None else evidence.fit(outputs, y)
        # Evidence that learns freely says of itself how likely each prediction is right.
        is_free = evidence is not None and not evidence.anchored
        told = plain if evidence is None or unseen is None else unseen
        self.calibration_ = None if is_free else self._calibrating(told, right)
        judged = {"softmax": plain} | ({} if unseen is None else {"evidence": unseen})
        coverage = {name: coverage_at(self._tolerance, scores, right) for name, scores in judged.items()}
        chosen, doubt = "softmax" if evidence is None else "evidence", ""
        if unseen is None:
            doubt = "; too few points to judge evidence by"
        elif coverage[chosen] < max(coverage.values()):
            doubt = ", which for so few mistakes may be chance"
        points = "training" if self.folds else "calibration"
        could = " and ".join(f"{100 * share:.1f} % with {name}" for name, share in coverage.items())
        self.choice_ = (
            f"{chosen}. Of the {len(y):,} {points} points, each judged by a model that had not seen it, {could} could "
            f"be labelled at an error of {100 * self._tolerance:g} %{doubt}"
        )

    @property
    def _tolerance(self) -> float:
        return 0.05 if self.tolerance is None else self.tolerance

    def _free(self, outputs: Outputs, y: Ints) -> tuple[Evidence | None, Floats | None]:
        """Evidence, if it lets more through; and what it says of points it has not seen."""
        evidence = Evidence(self.folds, random_state=self.random_state)
        unseen, right = evidence.cross_validated(outputs, y), outputs.predicted == y
        if unseen is None or self._merit(unseen, right) <= self._merit(top_probability(outputs), right):
            return None, unseen
        return evidence, unseen

    def _held_to_softmax(self, outputs: Outputs, y: Ints) -> tuple[Evidence | None, Floats | None]:
        """The same, of evidence that is nearest to softmax among those that may well be the best."""
        right, plain = outputs.predicted == y, top_probability(outputs)
        if self._tolerance * len(y) < _FEWEST_ALLOWED:
            return None, None
        ways = [Evidence(self.folds, strength, self.random_state, anchored=True) for strength in _STRENGTHS]
        unseen = [(way, scores) for way in ways if (scores := way.cross_validated(outputs, y)) is not None]
        if not unseen:
            return None, None
        with threads_for(len(y)):
            calibrated = cross_val_predict(
                LogisticRegression(),
                log_odds(plain)[:, None],
                right,
                cv=left_out_in_parts(self.random_state),
                method="predict_proba",
            )[:, 1]
        losses = [_losses(scores, right) for scores in (calibrated, *(scores for _, scores in unseen))]
        nearest = nearest_that_may_be_best(losses)
        if nearest == 0:
            return None, unseen[-1][1]
        way, scores = unseen[nearest - 1]
        is_worse = coverage_at(self._tolerance, scores, right) < coverage_at(self._tolerance, plain, right)
        return None if is_worse else way, scores

    def _calibrating(self, scores: Floats, right: Bools) -> LogisticRegression:
        """How likely predictions with such scores are right, by scores of points that they have not seen."""
        with threads_for(len(right)):
            return LogisticRegression().fit(log_odds(scores)[:, None], right)

    def _merit(self, scores: Floats, right: Bools) -> tuple[float, float]:
        """Coverage at the tolerance; where that is equal, the order of all points."""
        return coverage_at(self._tolerance, scores, right), -area_under_risk(scores, right)

    def _score(self, outputs: Outputs) -> Floats:
        return top_probability(outputs) if self.evidence_ is None else self.evidence_.score(outputs)


def _losses(probabilities: Floats, right: Bools) -> Floats:
    """Of each point, for the probability that it was given of being right."""
    return np.asarray(-np.log(np.clip(np.where(right, probabilities, 1 - probabilities), _SURE, 1)))


def nearest_that_may_be_best(losses: Sequence[Floats]) -> int:
    """The first that loses no more than the best but for one standard error of their difference."""
    best = min(losses, key=np.mean)
    differences = (of_one - best for of_one in losses)
    return next(number for number, lost in enumerate(differences) if lost.mean() <= lost.std() / np.sqrt(len(lost)))
