"""How many points above a candidate are to be labelled at least, where others wait for a later test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from labelsieve.thresholds.base import PoolView
from labelsieve.thresholds.claims import _at_least_to_label


@pytest.mark.parametrize("delta", [0.01, 1e-4, 2.5e-6])
@pytest.mark.parametrize(
    ("held_out", "waiting", "to_label"),
    [(40, 40, 120), (300, 300, 400), (500, 1000, 3_000), (20, 900, 80), (5, 5, 9_000)],
)
def test_never_more_than_the_quantile_and_hardly_less(held_out, waiting, to_label, delta):
    together = held_out + waiting + to_label
    pool = PoolView(
        scores=np.zeros(to_label), predicted=np.zeros(to_label, dtype=np.int64), n_held_out=held_out,
        n_waiting=waiting, n_to_label=to_label, expected_coverage=None,
    )  # fmt: skip
    total = np.unique(np.linspace(1, together, 120).astype(np.int64))
    found, exact = _at_least_to_label(total, pool, delta), hypergeom.ppf(delta, together, to_label, total)
    assert (found <= exact).all()
    spread = np.sqrt(total * to_label / together * (1 - to_label / together))
    assert (exact - found <= 1 + 0.3 * spread).all()
