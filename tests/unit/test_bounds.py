"""Bounds against scipy, against brute force, and against their own promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mapie.risk_control.methods import compute_hoeffding_bentkus_p_value
from scipy.stats import binomtest, hypergeom

from labelsieve.bounds import anytime_evidence, binomial_upper, hypergeometric_cdf, unseen_p_value, unseen_upper

deltas = st.sampled_from([0.001, 0.01, 0.05, 0.2])


@given(n=st.integers(1, 2000), share=st.floats(0, 1), delta=deltas)
def test_clopper_pearson_equals_scipys(n, share, delta):
    k = round(share * n)
    other = binomtest(k, n).proportion_ci(confidence_level=1 - 2 * delta, method="exact").high
    assert binomial_upper(k, n, delta) == pytest.approx(other, abs=1e-9)


@given(n=st.integers(2, 500), k=st.integers(0, 499), delta=deltas)
def test_clopper_pearson_is_monotone(n, k, delta):
    k = min(k, n - 1)
    assert binomial_upper(k, n, delta) <= binomial_upper(k + 1, n, delta)
    assert binomial_upper(k, n + 1, delta) <= binomial_upper(k, n, delta)


@given(n=st.integers(1, 1000), k=st.integers(0, 1000), delta=deltas)
def test_clopper_pearson_is_where_mapies_p_value_is_delta(n, k, delta):
    k = min(k, n - 1)
    assume(np.ceil(n * (k / n)) == k)  # MAPIE takes the rate and multiplies again, which can round up
    bound = float(binomial_upper(k, n, delta))
    (p_value,) = compute_hoeffding_bentkus_p_value(np.array([k / n]), n, bound, binary=True).ravel()
    assert p_value == pytest.approx(delta, abs=1e-9)


@given(m=st.integers(1, 300), unseen=st.integers(1, 2000), k=st.integers(0, 30), delta=deltas)
def test_unseen_upper_is_monotone(m, unseen, k, delta):
    """More errors never help; more right points never hurt."""
    k = min(k, m - 1)
    assert unseen_upper(k, m, unseen, delta) <= unseen_upper(k + 1, m, unseen, delta)
    assert unseen_upper(k, m + 1, unseen, delta) <= unseen_upper(k, m, unseen, delta)


def test_known_supports():
    assert binomial_upper(0, 59, 0.05) < 0.05 < binomial_upper(0, 58, 0.05)
    assert binomial_upper(0, 104, 0.005) < 0.05 < binomial_upper(0, 103, 0.005)
    assert binomial_upper(0, 299, 0.05) < 0.01 < binomial_upper(0, 298, 0.05)
    assert binomial_upper(0, 11, 0.05) == pytest.approx(0.238, abs=1e-3)


@given(m=st.integers(1, 300), unseen=st.integers(1, 3000), share=st.floats(0, 0.3), k=st.integers(0, 30))
def test_unseen_p_value_equals_scipys(m, unseen, share, k):
    k, allowed = min(k, m), int(share * unseen)
    expected = hypergeom.cdf(k, unseen + m, k + allowed + 1, m) if allowed < unseen else 0.0
    assert unseen_p_value(k, m, unseen, allowed) == pytest.approx(expected, abs=1e-9)


@given(m=st.integers(1, 60), unseen=st.integers(1, 60), beta=st.sampled_from([0.02, 0.1, 0.3]), data=st.data())
@settings(max_examples=150)
def test_unseen_p_value_keeps_its_level_exactly(m, unseen, beta, data):
    """For every number of wrong points: P(passes and more than allowed of the unseen are wrong) ≤ β, summed up."""
    allowed = data.draw(st.integers(0, unseen - 1))
    wrong = data.draw(st.integers(0, m + unseen))
    k = np.arange(max(0, wrong - unseen), min(m, wrong) + 1)
    failed = (unseen_p_value(k, m, unseen, allowed) <= beta) & (wrong - k > allowed)
    assert hypergeom.pmf(k, m + unseen, wrong, m)[failed].sum() <= beta + 1e-12


@given(m=st.integers(1, 200), unseen=st.integers(1, 500), k=st.integers(0, 20), delta=deltas)
def test_unseen_upper_is_the_smallest_number_that_passes(m, unseen, k, delta):
    k = min(k, m)
    bound = unseen_upper(k, m, unseen, delta)
    assert bound == unseen or unseen_p_value(k, m, unseen, bound) <= delta
    assert bound == 0 or unseen_p_value(k, m, unseen, bound - 1) > delta


def test_unseen_upper_comes_to_clopper_pearson_for_large_pools():
    assert unseen_upper(5, 300, 10**7, 0.05) / 10**7 == pytest.approx(float(binomial_upper(5, 300, 0.05)), rel=1e-3)


def test_anytime_evidence_is_infinite_once_all_were_looked_at():
    assert anytime_evidence(3, 50, 50, 0.05) == np.inf


def test_anytime_evidence_grows_without_errors_and_falls_with_one():
    n = np.arange(1, 200)
    clean = anytime_evidence(np.zeros_like(n), n, 100_000, 0.05)
    assert (np.diff(clean) > 0).all()
    assert anytime_evidence(1, 100, 100_000, 0.05) < anytime_evidence(0, 100, 100_000, 0.05)


@pytest.mark.parametrize("total", [5, 60, 3464, 50_000, 2_000_000])
def test_many_hypergeometric_probabilities_are_scipys(total):
    """Few are computed by scipy; these are more than few, and cover all of what is possible and some of what is not."""
    rng = np.random.default_rng(total)
    wrong, drawn = rng.integers(total + 1, size=(2, 3000))
    found = np.clip(np.rint(wrong * drawn / total + 3 * rng.normal(size=3000) * np.sqrt(drawn) / 4), -1, drawn)
    many = hypergeometric_cdf(found, total, wrong, drawn)
    np.testing.assert_allclose(many[:900], hypergeom.cdf(found, total, wrong, drawn)[:900], rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(
        hypergeometric_cdf(found[:9], total, wrong[:9], drawn[:9]), hypergeom.cdf(found, total, wrong, drawn)[:9]
    )
