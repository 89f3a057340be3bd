"""Which combination wins: the paper's rule, on tables small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsieve.errors import SearchError
from labelsieve.search.measurement import Measurement, Outcome, failed
from labelsieve.search.selection import choose

TOLERANCE = 0.05


def outcome(*labelled_and_wrong: tuple[int, int]) -> Outcome:
    """One pair per seed, of 100 points."""
    return Outcome([Measurement(100, labelled, wrong) for labelled, wrong in labelled_and_wrong])


SILENT = outcome((0, 0), (0, 0))
FAILED = Outcome([Measurement(100, 90, 0), failed("diverged")])


def winner(*outcomes: Outcome, seed: int = 0) -> int:
    return choose(outcomes, TOLERANCE, np.random.default_rng(seed)).winner


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([outcome((40, 0)), outcome((60, 3)), outcome((80, 5))], 1),  # 80 labels at 6.25 % are over the tolerance
        ([outcome((20, 1)), outcome((90, 9))], 0),  # exactly the tolerance is within it
        ([outcome((90, 9)), outcome((50, 4)), outcome((10, 3))], 1),  # none within: the lowest error
        ([outcome((90, 9)), outcome((20, 1), (50, 2))], 1),
        ([SILENT, outcome((1, 0))], 1),  # a single right label beats silence
        ([SILENT, outcome((80, 40))], 1),  # none within: silence has no error, so it is not the lowest
        ([FAILED, outcome((10, 9))], 1),
        ([FAILED, SILENT], 1),
        ([outcome((30, 0), (50, 0)), outcome((39, 0), (40, 0))], 0),  # 40 % against 39.5 %
        ([outcome((30, 0), (0, 0)), outcome((10, 0), (10, 0))], 0),  # a silent seed counts in coverage, not in error
    ],
)
def test_by_hand(outcomes, expected):
    assert winner(*outcomes) == expected


def test_the_mean_error_is_over_the_seeds_that_label():
    assert outcome((10, 1), (0, 0), (10, 2)).error == pytest.approx(0.15)
    assert outcome((10, 1), (0, 0), (10, 2)).coverage == pytest.approx(0.2 / 3)
    assert SILENT.error is None


def test_ties_are_drawn_and_the_seed_decides():
    tied = [outcome((10, 0)), outcome((50, 0), (30, 0)), outcome((30, 0), (50, 0)), outcome((40, 1))]
    drawn = [winner(*tied, seed=seed) for seed in range(40)]
    assert set(drawn) == {1, 2, 3}
    assert drawn == [winner(*tied, seed=seed) for seed in range(40)]
    assert "drawn from 3 that tie" in choose(tied, TOLERANCE, np.random.default_rng(0)).reason


def test_the_order_of_seeds_makes_no_tie_a_difference():
    errors = [(30, 1), (70, 2), (11, 0), (90, 3)]
    assert outcome(*errors).error == outcome(*reversed(errors)).error
    assert outcome(*errors).coverage == outcome(*reversed(errors)).coverage


def test_reasons():
    rng = np.random.default_rng(0)
    assert choose([outcome((9, 0)), outcome((9, 9))], TOLERANCE, rng).reason == (
        "highest coverage of the 1 of 2 combinations within the tolerance"
    )
    assert "lowest error, since none of 2" in choose([outcome((9, 8)), outcome((9, 9))], TOLERANCE, rng).reason
    assert "none of 2 combinations labels anything" in choose([SILENT, SILENT], TOLERANCE, rng).reason
    assert choose([SILENT], TOLERANCE, rng).reason == "the only combination"


def test_if_all_fail_the_first_says_why():
    with pytest.raises(SearchError, match=r"all 2 failed. The first: diverged.*smaller learning rates"):
        winner(FAILED, FAILED)


pairs = st.integers(0, 100).flatmap(lambda labelled: st.tuples(st.just(labelled), st.integers(0, labelled)))
sound = st.lists(pairs, min_size=3, max_size=3).map(lambda counts: outcome(*counts))
outcomes = st.lists(st.one_of(sound, st.just(FAILED), st.just(SILENT)), min_size=1, max_size=6)


@given(outcomes, st.integers(0, 5))
def test_nothing_better_is_passed_over(table, seed):
    alive = [one for one in table if one.failure is None]
    if not alive:
        with pytest.raises(SearchError):
            winner(*table, seed=seed)
        return
    won = table[winner(*table, seed=seed)]
    assert won.failure is None
    within = [one for one in alive if one.error is not None and one.error <= TOLERANCE]
    labelling = [one for one in alive if one.error is not None]
    if within:
        assert won.error is not None
        assert won.error <= TOLERANCE
        assert won.coverage == max(one.coverage for one in within)
    elif labelling:
        assert won.error == min(one.error for one in labelling)
