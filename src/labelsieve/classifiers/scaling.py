"""Inputs scaled by what the training points show."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from labelsieve.types import Array, Floats

if TYPE_CHECKING:
    import torch

_FARTHEST = 10.0
"""In standard deviations: a feature that hardly varies in training must not drown the others elsewhere."""
_LARGEST_OFFSET = 100.0
"""In standard deviations: how far from 0 a mean may lie for single precision, whose 24 bits then leave an error of less
than 0.00001 standard deviations. Farther out (time stamps) the offset would swallow the differences."""
_CHANNELS = 4
_SINGLE_RANGE = (1e-30, 1e30)
"""Standard deviations single precision can divide by."""

ArrayOrTensor = TypeVar("ArrayOrTensor", Array, "torch.Tensor")


class InputScaler:
    """Centres and scales each feature, or each channel of images, to unit variance.

    In single precision where that is exact enough, in double precision elsewhere.
    """

    def __init__(self, x: Array) -> None:
        mean, spread = _mean_and_spread(_columns(x))
        spread = np.where(spread > 0, spread, 1.0)
        smallest, largest = _SINGLE_RANGE
        single = (np.abs(mean) <= _LARGEST_OFFSET * spread) & (spread > smallest) & (spread < largest)
        precision = np.float32 if single.all() else np.float64
        self._mean, self._spread = mean.astype(precision), spread.astype(precision)
        self._on_device: dict[torch.device, tuple[torch.Tensor, torch.Tensor]] = {}

    def __call__(self, x: Array) -> Floats:
        """The scaled points in single precision."""
        with np.errstate(over="ignore"):  # what is too large for single precision is brought near anyway
            columns = _columns(x).astype(self._mean.dtype)
        near: Floats = _scaled(columns, self._mean, self._spread).astype(np.float32)
        return near.reshape(x.shape)

    def tensor(self, x: torch.Tensor) -> torch.Tensor:
        """The same for a tensor, on its device: points travel faster as they were stored than scaled."""
        mean, spread = self._numbers_on(x.device)
        return _scaled(_columns(x).to(mean.dtype), mean, spread).float().reshape(x.shape)

    def _numbers_on(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Sent there once: a step that a GPU is to record must not wait for numbers from elsewhere."""
        import torch

        if device not in self._on_device:
            mean, spread = (torch.from_numpy(values).to(device) for values in (self._mean, self._spread))
            self._on_device[device] = mean, spread
        return self._on_device[device]


def _mean_and_spread(columns: Array) -> tuple[Floats, Floats]:
    """Of each column. Bytes of images are counted, which is exact and many times as fast as adding them up."""
    if columns.dtype == np.uint8 and columns.shape[1] <= _CHANNELS:
        values = np.arange(256.0)
        shares = np.stack([np.bincount(column, minlength=256) for column in columns.T]) / len(columns)
        mean = shares @ values
        return mean, np.sqrt((shares * (values - mean[:, None]) ** 2).sum(axis=1))
    exact = columns.astype(np.float64)
    return exact.mean(axis=0), exact.std(axis=0)


def _scaled(columns: ArrayOrTensor, mean: ArrayOrTensor, spread: ArrayOrTensor) -> ArrayOrTensor:
    centred = columns - mean
    centred /= spread
    return centred.clip(-_FARTHEST, _FARTHEST)


def _columns(x: ArrayOrTensor) -> ArrayOrTensor:
    """Features as they are; all pixels of a channel as one column."""
    return x if x.ndim == 2 else x.reshape(-1, x.shape[3] if x.ndim == 4 else 1)
