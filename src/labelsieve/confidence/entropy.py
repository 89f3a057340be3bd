"""How concentrated the softmax is."""

from __future__ import annotations

from typing import ClassVar

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.types import Floats, Outputs


class Entropy(ConfidenceFunction):
    """Negative entropy of the softmax: 0 for a certain prediction, −log k for an even one. Nothing to fit."""

    needs_fitting: ClassVar[bool] = False

    def _score(self, outputs: Outputs) -> Floats:
        return -outputs.entropies
