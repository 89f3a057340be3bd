"""The fewest held-out points with which certified thresholds can pass, found by asking the rule."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.thresholds import CertifiedRule


def lets_all_through(rule: CertifiedRule, held_out: int, points: int, expected: float | None = None) -> bool:
    """With every held-out prediction right."""
    scores = np.random.default_rng(points).permutation(points) / points
    thresholds = rule.estimate(
        scores[:held_out],
        np.zeros(held_out, dtype=int),
        np.ones(held_out, dtype=bool),
        2,
        pool_scores=scores[held_out:],
        pool_predicted=np.zeros(points - held_out, dtype=int),
        expected_coverage=expected,
    )
    return bool((scores >= thresholds[0]).all())


@pytest.mark.parametrize("expected", [None, 0.3, 1.0])
@pytest.mark.parametrize(("tolerance", "delta"), [(0.05, 0.05), (0.03, 0.01), (0.1, 0.1), (0.2, 0.5)])
def test_it_is_where_the_rule_begins(tolerance, delta, expected):
    rule = CertifiedRule(tolerance, delta)
    for points in (rule.min_support, 2 * rule.min_support - 1, 2 * rule.min_support, 3 * rule.min_support, 5000):
        passing = (n for n in range(1, points) if lets_all_through(rule, n, points, expected))
        assert rule.fewest_held_out(points) == next(passing, None)


def test_the_fewest_are_enough_whatever_the_pool():
    """274 points and 517 other sizes below 6,000 were not, when 118 of 274 times 274 was a little less than 118."""
    rule = CertifiedRule(0.05, 0.05)
    assert all(lets_all_through(rule, 118, points) for points in range(236, 1500))


def test_without_a_promise_nothing_is_known():
    assert CertifiedRule().fewest_held_out(50) == 1
