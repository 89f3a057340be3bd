"""Confidence from several sources of evidence, weighed by a small regression."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from labelsieve.confidence.base import ConfidenceFunction, log_odds, top_probability
from labelsieve.errors import ConfigurationError
from labelsieve.expectation import coverage_expected_at
from labelsieve.fitting.threads import threads_for
from labelsieve.types import Bools, Floats, Ints, Outputs

_SURE = 1e-9
_LARGEST = 3
"""Probabilities that are looked at one by one."""
_PARTS = 5
_FREE = 300.0
"""By how much the anchor is larger than other columns, and so needs smaller weights, which regularisation spares."""


class Evidence(ConfidenceFunction):
    """Probability that a prediction is right, by logistic regression on what speaks for and against it.

    That is the shape of the probabilities (the largest ones, margin, entropy, energy) and what the training points of
    the classifier say: docs/methods.md lists the columns.

    folds: into how many parts the training points are divided so that each is predicted by a classifier that has not
        seen it. The regression learns from these, and all validation labels are left to the thresholds. With 0 it
        learns from a calibration split of them, as other functions do.
    strength: how closely the regression may follow its points (scikit-learn's C).
    anchored: the log-odds of softmax are hardly regularised: the less strength, the nearer the score comes to softmax.
    """

    def __init__(
        self, folds: int = 4, strength: float = 0.1, random_state: int | None = None, anchored: bool = False
    ) -> None:
        self.folds = folds
        self.strength = strength
        self.random_state = random_state
        self.anchored = anchored

    @property
    def training_folds(self) -> int:
        return self.folds

    def check_parameters(self) -> None:
        if not (isinstance(self.folds, int) and (self.folds == 0 or self.folds >= 2)):
            raise ConfigurationError(f"folds must be 0, or a whole number from 2 on; got {self.folds!r}.")

    def expected_coverage(self, scores: Floats, tolerance: float) -> float | None:
        return None if self.fallback_ else coverage_expected_at(tolerance, scores)

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        self.model_ = self._fitted(self._columns(outputs), outputs.predicted == y)

    def _score(self, outputs: Outputs) -> Floats:
        return _probability(self.model_, self._columns(outputs))

    def cross_validated(self, outputs: Outputs, y: Ints) -> Floats | None:
        """Scores of points with labels, each by a regression that has not seen it; None if there are too few."""
        columns, right, scores = self._columns(outputs), outputs.predicted == y, np.empty(len(y))
        if min(right.sum(), (~right).sum()) < _PARTS:
            return None
        for others, rows in left_out_in_parts(self.random_state).split(columns, right):
            scores[rows] = _probability(self._fitted(columns[others], right[others]), columns[rows])
        return scores

    def _fitted(self, columns: Floats, right: Bools) -> Pipeline:
        anchor = [FunctionTransformer(_freeing_the_first)] if self.anchored else []
        regression = LogisticRegression(C=self.strength, max_iter=1000)
        with threads_for(columns.size):
            return make_pipeline(StandardScaler(), *anchor, regression).fit(columns, right)

    def _columns(self, outputs: Outputs) -> Floats:
        columns = evidence_columns(outputs)
        return np.c_[log_odds(top_probability(outputs)), columns] if self.anchored else columns


def left_out_in_parts(random_state: int | None) -> StratifiedKFold:
    """How points with labels are divided to judge scores by those that were left out."""
    return StratifiedKFold(_PARTS, shuffle=True, random_state=random_state or 0)


def _freeing_the_first(columns: Floats) -> Floats:
    return np.asarray(np.c_[_FREE * columns[:, :1], columns[:, 1:]])


def _probability(model: Pipeline, columns: Floats) -> Floats:
    return np.asarray(model.predict_proba(columns)[:, 1])


def evidence_columns(outputs: Outputs) -> Floats:
    """Numbers (n, m) that tell right from wrong predictions."""
    probabilities = outputs.probabilities
    k = min(_LARGEST, probabilities.shape[1])
    largest = -np.partition(-probabilities, k - 1, axis=1)[:, :k] if k < probabilities.shape[1] else probabilities
    logs = np.log(np.maximum(-np.sort(-largest, axis=1), _SURE))
    of_logits = [
        logs,
        (logs[:, 0] - logs[:, 1])[:, None],
        np.log(np.maximum(1 - outputs.top_probabilities, _SURE))[:, None],
        outputs.entropies[:, None],
        # 0 where logits are logarithms of probabilities, but for rounding, which scaling would turn into noise.
        np.round(logsumexp(outputs.logits.astype(np.float64), axis=1), 5)[:, None],
    ]
    return np.hstack([*of_logits, outputs.evidence])
