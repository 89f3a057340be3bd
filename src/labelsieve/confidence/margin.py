"""Lead of the best class over the second."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.types import Floats, Outputs


class Margin(ConfidenceFunction):
    """Difference between the two largest softmax probabilities. Nothing to fit."""

    needs_fitting: ClassVar[bool] = False

    def _score(self, outputs: Outputs) -> Floats:
        top_two = np.partition(outputs.probabilities, -2, axis=1)[:, -2:]
        return np.asarray(top_two[:, 1] - top_two[:, 0])
