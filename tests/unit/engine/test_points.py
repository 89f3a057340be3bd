"""Pool and given validation data as one."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.data.pool import Pool
from labelsieve.engine.points import Points

POOL = np.arange(12, dtype=np.float32).reshape(6, 2) / 3
GIVEN = np.arange(6, dtype=np.float64).reshape(3, 2) / 7


@pytest.mark.parametrize("rows", [[0, 5], [6, 8], [7, 1, 6, 4], []])
def test_points_come_in_one_type_whoever_is_among_them(rows):
    """Else the last digits of a score would say whether its point is in a chunk with held-out ones."""
    taken = Points(Pool(POOL), Pool(GIVEN), seed=0).take(np.array(rows, dtype=np.int64))
    assert taken.dtype == np.float64
    np.testing.assert_array_equal(taken, np.concatenate([POOL.astype(np.float64), GIVEN])[rows])


def test_points_of_the_pool_alone_stay_as_they_are():
    assert Points(Pool(POOL), None, seed=0).take(np.array([1, 2])).dtype == np.float32
