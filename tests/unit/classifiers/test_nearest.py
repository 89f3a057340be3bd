"""The nearest points are those a full sort finds."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.classifiers import nearest as module
from labelsieve.classifiers.nearest import largest, nearest


@pytest.mark.parametrize("width", [5, 20, 163, 400, 1003])
def test_the_largest_are_those_a_full_sort_finds(width):
    values = np.random.default_rng(width).normal(size=(30, width)).astype(np.float32)
    k = min(20, width)
    found, at = largest(values, k)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(values, axis=1)[:, -k:])
    np.testing.assert_array_equal(np.take_along_axis(values, at, axis=1), found)


@pytest.mark.parametrize("at_once", [150, 1 << 20])
def test_the_nearest_come_first(monkeypatch, at_once):
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    x, points = (rng.normal(size=(n, 6)).astype(np.float32) for n in (40, 50))
    points[7] = x[3]
    apart = np.linalg.norm(x[:, None] - points, axis=2)
    distances, rows = nearest(x, points, 50, np.zeros(6, dtype=np.float32))
    np.testing.assert_array_equal(rows, np.argsort(apart, axis=1))
    np.testing.assert_allclose(distances, np.sort(apart, axis=1), rtol=1e-6)
    assert (rows[3, 0], distances[3, 0]) == (7, 0)
