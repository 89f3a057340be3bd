"""How many held-out points certified thresholds need when none of them is wrong."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from labelsieve.bounds import binomial_upper, unseen_p_value
from labelsieve.planner.support import validation_need, zero_error_support

LARGE = 1_000_000


@pytest.mark.parametrize(
    ("tolerance", "level", "expected"),
    [(0.05, 0.05, 59), (0.05, 0.005, 104), (0.01, 0.05, 299)],  # by hand: ⌈log level / log(1 − tolerance)⌉
)
def test_known_numbers(tolerance, level, expected):
    assert zero_error_support(tolerance, level, LARGE) == expected
    assert binomial_upper(0, expected, level) <= tolerance < binomial_upper(0, expected - 1, level)


def test_a_tiny_pool_by_hand():
    # Of 4 points, 2 seen and 2 not; at most half of those may be wrong, so 2 wrong break it: 1 way of 6 hides both.
    assert zero_error_support(0.5, 1 / 6 + 1e-9, 4) == 2
    # 3 seen: none of the 1 left may be wrong, which 1 draw of 4 would hide. So nothing reaches 10 %.
    assert zero_error_support(0.5, 0.1, 4) is None
    assert zero_error_support(0.5, 0.1, 1) is None


@pytest.mark.parametrize("points", [150, 400, 3000])
def test_it_is_the_first_that_passes(points):
    found = zero_error_support(0.05, 0.05, points)
    passes = [unseen_p_value(0, m, points - m, math.floor(0.05 * (points - m))) <= 0.05 for m in range(1, points)]
    assert found == passes.index(True) + 1


def test_small_pools_need_more():
    assert [zero_error_support(0.05, 0.0025, n) for n in (100, 1000, 5000, LARGE)] == [None, 125, 118, 117]


def need(tolerance=0.05, delta=0.05, candidates=20, groups=1, points=LARGE, share_above=0.5):
    return validation_need(
        tolerance=tolerance, delta=delta, candidates=candidates, groups=groups, points=points, share_above=share_above
    )


def test_delta_is_shared_by_candidates_and_classes():
    assert (need().level, need(groups=10).level) == pytest.approx((0.05 / 20, 0.05 / 200))
    assert need().at_least == need().points_above == 117
    assert need().likely == 234
    ten = need(groups=10)
    assert ten.points_above == zero_error_support(0.05, 0.05 / 200, LARGE // 10)
    assert ten.at_least == 10 * ten.points_above


def test_monotone():
    assert_falling([need(tolerance=e).at_least for e in (0.01, 0.02, 0.05, 0.1, 0.3)])
    assert_falling([need(delta=d).at_least for d in (0.001, 0.01, 0.05, 0.2, 0.5)])
    assert_falling([need(groups=k).at_least for k in (200, 50, 10, 2, 1)])
    assert_falling([need(candidates=g).at_least for g in (100, 20, 5, 1)])
    assert_falling([need(share_above=s).likely for s in (0.1, 0.4, 1.0)])


def assert_falling(numbers):
    assert all(later < earlier for earlier, later in pairwise(numbers)), numbers


def test_classes_too_small_for_a_threshold_of_their_own():
    many = need(groups=200, points=10_000)
    assert (many.points_above, many.at_least, many.likely) == (None, None, None)
    assert need(share_above=0.0).likely is None
