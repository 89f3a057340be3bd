"""Inputs scaled by what the training points show."""

from __future__ import annotations

import numpy as np

from labelsieve.classifiers.base import flattened
from labelsieve.types import Array, Floats

_SHRINK = 0.1
"""Share of the mean variance added to each, so that a feature that hardly varies in training is not blown up."""


class InputScaler:
    """Centres and scales each feature, or each channel of images, to about unit variance."""

    def __init__(self, x: Array) -> None:
        columns = self._columns(x).astype(np.float64)
        variance = columns.var(axis=0)
        spread = np.sqrt(variance + _SHRINK * variance.mean())
        self._mean = columns.mean(axis=0).astype(np.float32)
        self._spread = np.where(spread > 0, spread, 1.0).astype(np.float32)

    def __call__(self, x: Array) -> Floats:
        scaled = (self._columns(x).astype(np.float32) - self._mean) / self._spread
        return np.asarray(scaled.reshape(x.shape))

    @staticmethod
    def _columns(x: Array) -> Array:
        """Features as they are; all pixels of a channel as one column."""
        if x.ndim == 2:
            return x
        return flattened(x).reshape(-1, x.shape[3] if x.ndim == 4 else 1)
