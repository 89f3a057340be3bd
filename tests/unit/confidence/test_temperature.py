"""Temperature scaling against scikit-learn's, which was written by others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from labelsieve.confidence import Temperature
from labelsieve.confidence.temperature import inverse_temperature
from labelsieve.errors import ConfigurationError
from tests.contracts.test_confidence import right_and_wrong


class SaysItsInput(ClassifierMixin, BaseEstimator):
    """A classifier whose decision values are its input."""

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, x):
        return x

    def predict(self, x):
        return self.classes_[x.argmax(axis=1)]


@pytest.mark.parametrize(("k", "scale"), [(3, 0.2), (4, 1.0), (10, 7.0)])
def test_equals_scikit_learns(k, scale):
    outputs, y = right_and_wrong(800, k=k)
    logits = scale * outputs.logits
    other = CalibratedClassifierCV(FrozenEstimator(SaysItsInput().fit(logits, y)), method="temperature", ensemble=False)
    probabilities = other.fit(logits, y).predict_proba(logits)
    fitted = Temperature().fit(type(outputs)(logits, outputs.features), y)
    ours = fitted.score(type(outputs)(logits, outputs.features))
    np.testing.assert_allclose(ours, probabilities[np.arange(len(y)), logits.argmax(axis=1)], atol=1e-6)


def test_adam_comes_near_the_optimum():
    outputs, y = right_and_wrong(800)
    exact = Temperature().fit(outputs, y).temperature_
    adam = Temperature(solver="adam", epochs=100, weight_decay=0).fit(outputs, y).temperature_
    assert adam == pytest.approx(exact, rel=0.03)


def test_a_perfect_classifier_does_not_send_it_to_infinity():
    logits = np.eye(3)[np.arange(30) % 3] * 5.0
    assert np.isfinite(inverse_temperature(logits, np.arange(30) % 3))


def test_unknown_solver():
    with pytest.raises(ConfigurationError, match="'lbfgs' or 'adam'; got 'magic'"):
        Temperature(solver="magic").fit(*right_and_wrong(50))
