"""How much the logits add up to."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.types import Floats, Outputs


class Energy(ConfidenceFunction):
    """log Σ exp(logits), the negative free energy (Liu et al. 2020): low for points unlike any seen. Nothing to fit.

    It says nothing where logits are log-probabilities, as they are for scikit-learn classifiers: those add up to one.
    """

    needs_fitting: ClassVar[bool] = False
    needs_raw_logits: ClassVar[bool] = True

    def _score(self, outputs: Outputs) -> Floats:
        return np.asarray(logsumexp(outputs.logits.astype(np.float64), axis=1))
