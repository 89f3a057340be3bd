"""Evidence, bound and forecast against sums over every possible number of wrong labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, hypergeom

from labelsieve.audit.verdict import Verdict, settled_at
from labelsieve.bounds import anytime_evidence_of_total


def log_ratios(total: int, points: int, errors: int, rate: float) -> np.ndarray:
    """log R_n(K') for every K', as the probability of the answers under the prior over that under K'."""
    counts = np.arange(total + 1)
    likelihood = hypergeom.pmf(errors, total, counts, points)
    marginal = (betabinom.pmf(counts, total, 1, 2 / rate) * likelihood).sum()
    with np.errstate(divide="ignore"):
        return np.log(marginal) - np.log(likelihood)


@st.composite
def counts(draw):
    total = draw(st.integers(2, 80))
    points = draw(st.integers(0, total))
    return total, points, draw(st.integers(0, points)), draw(st.floats(0.01, 0.6)), draw(st.floats(0.01, 0.5))


@given(counts())
def test_verdict_is_the_worst_case_over_all_counts(case):
    total, points, errors, tolerance, level = case
    verdict = Verdict(total, points, errors, tolerance, level)
    ratios = log_ratios(total, points, errors, tolerance)
    broken = np.arange(total + 1) - errors > tolerance * verdict.remaining
    worst = ratios[broken].min() if broken.any() else math.inf
    assert verdict.evidence <= worst + 1e-8
    assert verdict.evidence == pytest.approx(worst, abs=1e-8) or verdict.evidence == -math.inf


@given(counts())
def test_nothing_above_the_bound_is_left_standing(case):
    total, points, errors, tolerance, level = case
    verdict = Verdict(total, points, errors, tolerance, level)
    standing = np.flatnonzero(log_ratios(total, points, errors, tolerance) < math.log(1 / level) - 1e-8)
    assert (standing - errors <= verdict.most_wrong).all()
    assert 0 <= verdict.most_wrong <= verdict.remaining


@given(counts())
def test_bound_and_verdict_agree(case):
    verdict = Verdict(*case)
    assert verdict.certified == (verdict.most_wrong <= math.floor(verdict.tolerance * verdict.remaining))


def test_by_hand():
    """Two labels, one checked and right, prior uniform (rate 2): R(K = 1) = 1/3 / (1/3) and nothing more is known."""
    assert float(anytime_evidence_of_total(0, 1, 2, 0, 2.0)) == pytest.approx(math.log((1 / 3) / (1 / 3)))
    assert float(anytime_evidence_of_total(0, 0, 2, 0, 2.0)) == pytest.approx(0)


def test_more_wrong_found_than_allowed_is_never_certified():
    assert float(anytime_evidence_of_total(5, 100, 1_000, 4, 0.05)) == -math.inf


def test_nothing_left_unchecked():
    verdict = Verdict(10, 10, 4, 0.05, 0.05)
    assert verdict.certified
    assert verdict.bound == 0
    assert verdict.most_wrong == 0


def test_forecast_is_what_settles_it():
    verdict = Verdict(20_000, 40, 0, 0.05, 0.05)
    assert verdict.likely_more > 0
    assert Verdict(20_000, 40 + verdict.likely_more, 0, 0.05, 0.05).certified


def test_forecast_above_the_tolerance():
    assert Verdict(20_000, 100, 6, 0.05, 0.05).likely_more is None
    assert settled_at(200, 0.05, 0.05, 0.045) is None  # only by checking all
