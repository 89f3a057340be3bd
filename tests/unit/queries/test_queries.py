"""What each strategy chooses, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.errors import ConfigurationError
from labelsieve.queries import Coreset, Entropy, LeastConfidence, Margin, MarginRandom, NearThreshold, Random
from labelsieve.queries.base import lowest
from labelsieve.types import Outputs

PROBABILITIES = np.array([[0.9, 0.05, 0.05], [0.5, 0.49, 0.01], [0.4, 0.3, 0.3], [0.6, 0.2, 0.2]])
OUTPUTS = Outputs(np.log(PROBABILITIES), np.zeros((4, 2)))


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("strategy", "order"),
    [(Margin(), [1, 2, 3, 0]), (LeastConfidence(), [2, 1, 3, 0]), (Entropy(), [2, 3, 1, 0])],
)
def test_orders(strategy, order):
    selection = strategy.select(strategy.summary(OUTPUTS), np.empty((0,)), 4, rng())
    assert selection.rows.tolist() == order
    assert selection.probabilities.tolist() == [1.0] * 4


def test_margin_random_draws_from_its_window_with_the_probability_it_says():
    margins = np.arange(100.0)
    counts = np.zeros(100)
    for seed in range(2000):
        selection = MarginRandom().select(margins, np.empty(0), 10, np.random.default_rng(seed))
        assert len(set(selection.rows.tolist())) == 10
        assert (selection.probabilities == 0.5).all()
        counts[selection.rows] += 1
    assert counts[20:].sum() == 0
    # 2,000 draws at probability 1/2: 5 standard deviations are 112.
    assert np.abs(counts[:20] - 1000).max() < 112


def test_margin_random_window_shrinks_to_the_pool():
    selection = MarginRandom().select(np.arange(12.0), np.empty(0), 10, rng())
    assert np.allclose(selection.probabilities, 10 / 12)


def test_random_is_uniform():
    selection = Random().select(Random().summary(OUTPUTS), np.empty((0, 0)), 3, rng())
    assert len(set(selection.rows.tolist())) == 3
    assert selection.probabilities.tolist() == [0.75] * 3


def test_coreset_takes_the_farthest_point_each_time():
    line = np.array([[0.0], [1.0], [4.0], [10.0], [6.0]])
    selection = Coreset().select(line, np.array([[0.0]]), 3, rng())
    # From 0: 10 is farthest; then 4 and 6 are 4 away, the first of them wins; then 6 is 2 away, 1 only 1.
    assert selection.rows.tolist() == [3, 2, 4]


def test_coreset_never_repeats_even_among_identical_points():
    selection = Coreset().select(np.ones((6, 2)), np.ones((1, 2)), 6, rng())
    assert sorted(selection.rows.tolist()) == list(range(6))


def test_lowest_keeps_ties_in_order():
    assert lowest(np.array([2.0, 1.0, 1.0, 1.0, 0.0]), 3).tolist() == [4, 1, 2]


@pytest.mark.parametrize("n", [0, 5])
def test_impossible_sizes(n):
    with pytest.raises(ConfigurationError, match="1 to 4"):
        Margin().select(np.arange(4.0), np.empty(0), n, rng())


def test_near_threshold_draws_from_those_next_under_it():
    # The 60 surest are let through: 50 without a mistake, and 10 of which 3 may be wrong in all, 5 % of 60.
    sure = np.concatenate([np.full(50, 1.0), np.full(10, 0.7), np.linspace(0.6, 0.2, 40)])
    shuffled = rng().permutation(100)
    seen = set()
    for seed in range(50):
        selection = NearThreshold(window=1.5).select(sure[shuffled], np.empty(0), 10, np.random.default_rng(seed))
        assert selection.probabilities == pytest.approx(10 / 15)
        seen |= set(shuffled[selection.rows].tolist())
    assert seen == set(range(60, 75))


def test_near_threshold_takes_the_least_sure_where_all_are_let_through():
    selection = NearThreshold().select(np.linspace(1, 0.99, 20), np.empty(0), 3, rng())
    assert set(selection.rows.tolist()) <= set(range(14, 20))
