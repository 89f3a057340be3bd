"""Lead of the best class over the second."""

from __future__ import annotations

from typing import ClassVar

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.types import Floats, Outputs


class Margin(ConfidenceFunction):
    """Difference between the two largest softmax probabilities. Nothing to fit."""

    needs_fitting: ClassVar[bool] = False

    def _score(self, outputs: Outputs) -> Floats:
        return outputs.margins
