"""How many held-out points certified thresholds need when none of them is wrong."""

from __future__ import annotations

from itertools import pairwise

import pytest

from labelsieve.planner.support import validation_need
from tests.unit.planner.test_forecast import settings_for

LARGE = 1_000_000


def need(tolerance=0.05, delta=0.05, candidates=None, groups=1, points=LARGE, share_above=0.5):
    return validation_need(settings_for(tolerance, delta, candidates), points, groups, share_above)


@pytest.mark.parametrize(
    ("tolerance", "delta", "expected"),
    [
        (0.05, 0.05, 2 * 59),
        (0.05, 0.005, 2 * 104),
        (0.01, 0.05, 2 * 299),
    ],  # by hand: 2 ⌈log delta / log(1 − tolerance)⌉
)
def test_known_numbers(tolerance, delta, expected):
    assert need(tolerance, delta).at_least == expected


def test_a_small_pool_has_too_few():
    assert [need(points=n).at_least for n in (100, 235, 236, 1000)] == [None, None, 118, 118]


def test_delta_is_shared_by_classes():
    assert need().likely == 236
    assert need(groups=10).at_least == 10 * need(delta=0.005, points=LARGE // 10).at_least


def test_monotone():
    assert_falling([need(tolerance=e).at_least for e in (0.01, 0.02, 0.05, 0.1, 0.3)])
    assert_falling([need(delta=d).at_least for d in (0.001, 0.01, 0.05, 0.2, 0.5)])
    assert_falling([need(groups=k).at_least for k in (200, 50, 10, 2, 1)])
    assert_falling([need(share_above=s).likely for s in (0.1, 0.4, 1.0)])


def assert_falling(numbers):
    assert all(later < earlier for earlier, later in pairwise(numbers)), numbers


def test_classes_too_small_for_a_threshold_of_their_own():
    many = need(groups=200, points=10_000)
    assert (many.at_least, many.likely) == (None, None)
    assert need(share_above=0.0).likely is None
    assert need(share_above=0.1, points=1000).likely is None  # 1,180 are more than there are
