"""Inputs scaled by what the training points show."""

from __future__ import annotations

import numpy as np

from labelsieve.classifiers.base import flattened
from labelsieve.types import Array, Floats

_FARTHEST = 10.0
"""In standard deviations: a feature that hardly varies in training must not drown the others elsewhere."""


class InputScaler:
    """Centres and scales each feature, or each channel of images, to unit variance."""

    def __init__(self, x: Array) -> None:
        columns = self._columns(x).astype(np.float64)
        self._mean, spread = columns.mean(axis=0), columns.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)

    def __call__(self, x: Array) -> Floats:
        # In double precision until centred: large offsets (time stamps) would swallow the differences.
        scaled = (self._columns(x) - self._mean) / self._spread
        near: Floats = np.clip(scaled, -_FARTHEST, _FARTHEST).astype(np.float32)
        return near.reshape(x.shape)

    @staticmethod
    def _columns(x: Array) -> Array:
        """Features as they are; all pixels of a channel as one column."""
        if x.ndim == 2:
            return x
        return flattened(x).reshape(-1, x.shape[3] if x.ndim == 4 else 1)
