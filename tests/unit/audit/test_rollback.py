"""The sequence of unions, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.audit.plan import AuditPlan
from labelsieve.audit.rollback import largest_kept, outward, unions_of

PLAN = AuditPlan(10_000, 0.05, 0.1, 0, 1_000, "scores")
SIZES = [1_000] * 10


def results(checked, wrong):
    return outward(unions_of(SIZES, PLAN), np.array(checked), np.array(wrong), PLAN)


def test_claims_leave_room_for_what_will_be_checked():
    unions = unions_of(SIZES, PLAN)
    assert [union.total for union in unions] == [1_000 * (union.last + 1) for union in unions]
    assert unions[-1].last == 8  # the whole is not one of them
    for union in unions:
        assert union.allowed <= 0.05 * 0.9 * union.total
        assert union.allowed > 0.05 * 0.8 * union.total


def test_levels_are_handed_on_and_add_up():
    tested = results([100] * 10, [0] * 10)
    assert all(result.passed for result in tested)
    assert [result.level for result in tested] == pytest.approx(
        [0.02 * (place + 1) / len(tested) for place in range(len(tested))]
    )
    assert largest_kept(tested) is tested[-1]


def test_a_failure_keeps_its_level():
    tested = results([100] * 10, [0, 20, 0, 0, 0, 0, 0, 0, 0, 0])
    first = next(place for place, result in enumerate(tested) if not result.passed)
    assert tested[first + 1].level == pytest.approx(0.02 / len(tested))


def test_what_is_kept_is_within_the_tolerance():
    kept = largest_kept(results([100] * 10, [0] * 7 + [30, 30, 30]))
    assert kept.union.last == 6
    assert kept.most_wrong <= 0.05 * kept.remaining


def test_a_union_checked_more_than_planned_is_not_kept():
    """Its claim is about labels before the audit; too few remain for it to be within the tolerance."""
    tested = results([600] * 10, [0] * 10)
    assert tested[-1].passed
    assert not tested[-1].keeps
    assert largest_kept(tested) is None


def test_too_few_labels_planned_for_any_part():
    assert unions_of(SIZES, AuditPlan(10_000, 0.05, 0.1, 0, 50, "scores")) == []
    assert unions_of([10_000], PLAN) == []
