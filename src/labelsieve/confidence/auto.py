"""The confidence function that would have let most through."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from labelsieve.confidence.base import ConfidenceFunction, top_probability
from labelsieve.confidence.evidence import Evidence, evidence_columns
from labelsieve.expectation import area_under_risk, coverage_at, coverage_expected_at
from labelsieve.fitting.threads import threads_for
from labelsieve.types import Array, Bools, Floats, Ints, Outputs

_SURE = 1e-12
_MISTAKES_PER_COLUMN = 10
_SURE_OF, _DRAWS = 2.0, 100
"""By how many standard errors evidence has to be better, and by how many draws of points these are found out."""


class Auto(ConfidenceFunction):
    """Softmax, or ``Evidence`` where that lets more through at the tolerance.

    Both are judged on the training points, each predicted by a classifier that has not seen it and scored by a
    regression that has not seen it either. No validation label is used, so all of them are left to the thresholds.

    A regression on many columns needs mistakes to learn from, ten for each column by a common rule (Peduzzi et al.
    1996). With fewer it does harm about as often as it seems to help, so it also has to sort right from wrong
    predictions better by more than chance would.

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

    def coverage_to_test(self, scores: Floats, tolerance: float) -> float | None:
        """What is expected; with few mistakes to learn from that is too rough for softmax, whose test is then that of
        softmax alone."""
        if self.fallback_ or (self.few_mistakes_ and self.evidence_ is None):
            return None
        return self.expected_coverage(scores, tolerance)

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        tolerance = 0.05 if self.tolerance is None else self.tolerance
        right, evidence = outputs.predicted == y, Evidence(self.folds, random_state=self.random_state)
        plain = top_probability(outputs)
        unseen = {"softmax": plain}
        by_evidence = evidence.cross_validated(outputs, y)
        if by_evidence is not None:
            unseen["evidence"] = by_evidence
        self.few_mistakes_ = int((~right).sum()) < _MISTAKES_PER_COLUMN * evidence_columns(outputs).shape[1]
        judged = {name: _merit(scores, right, tolerance) for name, scores in unseen.items()}
        chosen = max(judged, key=lambda name: judged[name])  # softmax, if they are equal
        doubt, seed = "", self.random_state or 0
        if chosen == "evidence" and self.few_mistakes_ and not _surely_better(unseen[chosen], plain, right, seed):
            chosen, doubt = "softmax", ", which for so few mistakes may be chance"
        self.evidence_ = evidence.fit(outputs, y) if chosen == "evidence" else None
        with threads_for(len(y)):
            self.calibration_ = LogisticRegression().fit(_log_odds(plain), right)
        coverages = " and ".join(f"{100 * coverage:.1f} % with {name}" for name, (coverage, _) in judged.items())
        self.choice_ = (
            f"{chosen}. Of the {len(y):,} training points, each judged by a model that had not seen it, {coverages} "
            f"could be labelled at an error of {100 * tolerance:g} %{doubt}"
        )

    def _score(self, outputs: Outputs) -> Floats:
        return top_probability(outputs) if self.evidence_ is None else self.evidence_.score(outputs)


def _merit(scores: Floats, right: Bools, tolerance: float) -> tuple[float, float]:
    """Coverage at the tolerance; where that is equal, the order of all points."""
    return coverage_at(tolerance, scores, right), -area_under_risk(scores, right)


def _surely_better(scores: Floats, plain: Floats, right: Bools, seed: int) -> bool:
    """Whether the area under the risk of the first is lower by more than points drawn otherwise would make of it."""
    rng, n = np.random.default_rng(seed), len(right)
    risks = [_risk_of_a_draw(plain, right), _risk_of_a_draw(scores, right)]
    draws = [np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(_DRAWS)]
    gains = [risks[0](times) - risks[1](times) for times in draws]
    return bool(risks[0](np.ones(n)) - risks[1](np.ones(n)) > _SURE_OF * np.std(gains))


def _risk_of_a_draw(scores: Floats, right: Bools) -> Callable[[Array], float]:
    """The area under the risk where each point is drawn so many times; they are sorted once for all draws."""
    order = np.argsort(-scores, kind="stable")
    wrong = ~right[order]
    return lambda times: float(times[order] @ np.cumsum(times[order] * wrong)) / float(times.sum()) ** 2


def _log_odds(probabilities: Floats) -> Floats:
    return np.asarray(logit(np.clip(probabilities, _SURE, 1 - _SURE)))[:, None]
