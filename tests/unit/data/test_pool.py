from __future__ import annotations

import numpy as np
import pytest

from labelsieve.data.pool import Pool
from labelsieve.errors import DataError


@pytest.mark.parametrize(
    ("data", "ids", "message"),
    [
        (np.empty((0, 3)), None, "at least one point"),
        (np.ones(5), None, r"shape \(5,\).*reshape"),
        (np.ones((2, 2, 2, 2, 2)), None, "shape"),
        (np.array([["a", "b"]]), None, "numeric; got dtype <U1"),
        (np.ones((3, 2)), [1, 2], "2 ids for 3 points"),
        (np.ones((3, 2)), ["a", "b", "a"], "1 occur more than once, the first is .*a"),
        (np.ones((2, 2)), [None, "a"], "strings or integers"),
    ],
)
def test_refuses(data, ids, message):
    with pytest.raises(DataError, match=message):
        Pool(data, ids=ids)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_refuses_non_finite_and_names_the_rows(bad):
    data = np.ones((50, 4))
    data[[7, 31], 2] = bad
    with pytest.raises(DataError, match=r"2 of 50 points have NaN or infinity \(rows 7, 31\)"):
        Pool(data)


def test_fingerprint_tells_pools_apart():
    data = np.arange(20.0).reshape(10, 2)
    same = Pool(data.copy())
    assert Pool(data).fingerprint() == same.fingerprint()
    assert Pool(data + 1).fingerprint() != same.fingerprint()
    assert Pool(data, ids=range(1, 11)).fingerprint() != same.fingerprint()
