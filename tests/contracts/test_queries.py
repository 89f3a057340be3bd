"""What every query strategy must do."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from labelsieve import registry
from labelsieve.types import Outputs


def some_outputs(n, seed=0):
    rng = np.random.default_rng(seed)
    return Outputs(rng.normal(size=(n, 4)), rng.normal(size=(n, 6)))


@pytest.mark.parametrize("name", registry.BUILT_IN["query"])
class TestQueryContract:
    def choose(self, name, n, seed=0):
        strategy = registry.create("query", name)
        candidates, trained = strategy.summary(some_outputs(80)), strategy.summary(some_outputs(20, seed=1))
        return strategy.select(candidates, trained, n, np.random.default_rng(seed))

    @pytest.mark.parametrize("n", [1, 10, 80])
    def test_chooses_n_different_rows_with_probabilities(self, name, n):
        selection = self.choose(name, n)
        assert len(set(selection.rows.tolist())) == n
        assert 0 <= selection.rows.min() <= selection.rows.max() < 80
        assert ((selection.probabilities > 0) & (selection.probabilities <= 1)).all()
        assert selection.probabilities.shape == (n,)

    def test_same_seed_same_choice(self, name):
        np.testing.assert_array_equal(self.choose(name, 10).rows, self.choose(name, 10).rows)

    def test_summary_is_row_by_row(self, name):
        strategy, outputs = registry.create("query", name), some_outputs(30)
        whole = strategy.summary(outputs)
        parts = [strategy.summary(outputs[rows]) for rows in (slice(0, 11), slice(11, 30))]
        np.testing.assert_allclose(np.concatenate(parts), whole)

    def test_parameters_are_kept_and_no_label_is_taken(self, name):
        strategy = registry.create("query", name)
        assert clone(strategy).get_params() == strategy.get_params()
        for method in (strategy.summary, strategy.select):
            assert not {"y", "label", "labels"} & set(inspect.signature(method).parameters)
