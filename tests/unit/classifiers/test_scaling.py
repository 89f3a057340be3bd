"""Scaling in single precision where it is exact enough, in double precision elsewhere; the same for tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labelsieve.classifiers.scaling import InputScaler

RNG = np.random.default_rng(0)


def exact(train: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The definition, in double precision throughout."""
    axes = 0 if x.ndim == 2 else (0, 1, 2)
    mean, spread = (f(train.astype(np.float64), axis=axes) for f in (np.mean, np.std))
    return ((x - mean) / np.where(spread > 0, spread, 1.0)).clip(-10, 10)


@pytest.mark.parametrize(
    "x",
    [
        RNG.normal(size=(50, 3)),
        RNG.normal(size=(50, 3)).astype(np.float16),
        RNG.normal(size=(50, 3)).astype(">f4"),
        RNG.integers(1000, size=(50, 3), dtype=np.uint16),
        RNG.integers(2, size=(50, 3)).astype(bool),
        1.7e9 + 5 * RNG.normal(size=(50, 3)),
        np.int64(1_700_000_000) + RNG.integers(9, size=(50, 3)),
        99.0 + RNG.normal(size=(50, 3)),
        1e100 * RNG.normal(size=(50, 3)),
        1e-40 * RNG.normal(size=(50, 3)),
        np.full((50, 3), 7.5),
        RNG.integers(255, size=(50, 4, 5, 3), dtype=np.uint8),
        RNG.normal(size=(50, 3))[::-1, ::-1],
    ],
    ids=lambda x: f"{x.dtype} around {np.median(x):.3g}",
)
def test_close_to_double_precision_on_whatever_scale(x):
    scaler = InputScaler(x[:30])
    scaled = scaler(x)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled, exact(x[:30], x), atol=2e-5)
    known = x.astype(np.float64) if x.dtype in (np.dtype(">f4"), np.dtype("u2")) else np.ascontiguousarray(x)
    np.testing.assert_allclose(scaler.tensor(torch.from_numpy(known)).numpy(), exact(x[:30], x), atol=2e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_leaves_the_points_as_they_are(dtype):
    x = RNG.normal(size=(20, 3)).astype(dtype)
    before, scaler = x.copy(), InputScaler(x)
    scaler(x)
    scaler.tensor(torch.from_numpy(x))
    np.testing.assert_array_equal(x, before)


def test_far_points_are_brought_near():
    scaler = InputScaler(np.array([[0.0], [1.0]]))
    np.testing.assert_array_equal(scaler(np.array([[1e300], [-1e300], [0.5]])), [[10], [-10], [0]])


@pytest.mark.parametrize("shape", [(50, 9, 7), (40, 6, 5, 3)])
def test_bytes_of_images_are_scaled_as_their_numbers_are(shape):
    x = np.random.default_rng(0).integers(256, size=shape).astype(np.uint8)
    np.testing.assert_allclose(InputScaler(x)(x), InputScaler(x.astype(np.float64))(x.astype(np.float64)), atol=1e-6)


def test_one_shade_is_no_division_by_zero():
    x = np.full((5, 4, 4), 7, dtype=np.uint8)
    assert (InputScaler(x)(x) == 0).all()
