"""The classifier's own probability."""

from __future__ import annotations

from typing import ClassVar

from labelsieve.confidence.base import ConfidenceFunction, top_probability
from labelsieve.types import Floats, Outputs


class Softmax(ConfidenceFunction):
    """The largest softmax probability. Nothing to fit, so all held-out points can set thresholds."""

    needs_fitting: ClassVar[bool] = False

    def _score(self, outputs: Outputs) -> Floats:
        return top_probability(outputs)
