"""A monotone map from softmax to the share that was right."""

from __future__ import annotations

from sklearn.isotonic import IsotonicRegression

from labelsieve.confidence.base import ConfidenceFunction, top_probability
from labelsieve.types import Floats, Ints, Outputs


class Isotonic(ConfidenceFunction):
    """Isotonic regression of being right on the largest softmax probability (Zadrozny, Elkan 2002).

    The order of points stays, except that it makes ties.
    """

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        right = (outputs.predicted == y).astype(float)
        self.map_ = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(top_probability(outputs), right)

    def _score(self, outputs: Outputs) -> Floats:
        predicted: Floats = self.map_.predict(top_probability(outputs))
        return predicted
