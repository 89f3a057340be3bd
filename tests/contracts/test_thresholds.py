"""What every threshold rule must do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from labelsieve import registry


def held_out(n=400, k=4, seed=0):
    """Scores that are higher where the prediction is right, and a class that is never predicted."""
    rng = np.random.default_rng(seed)
    predicted, correct = rng.integers(k - 1, size=n), rng.uniform(size=n) < 0.8
    return rng.normal(size=n) + 3 * correct, predicted, correct, k


@pytest.mark.parametrize("name", registry.BUILT_IN["thresholds"])
class TestThresholdRuleContract:
    def rule(self, name, tolerance=0.1):
        return registry.create("thresholds", name).set_params(tolerance=tolerance)

    def test_one_threshold_per_class_and_none_without_points(self, name):
        thresholds = self.rule(name).estimate(*held_out())
        assert thresholds.shape == (4,)
        assert np.isfinite(thresholds[:3]).all()
        assert thresholds[3] == np.inf

    def test_order_does_not_matter(self, name):
        scores, predicted, correct, k = held_out()
        order = np.random.default_rng(1).permutation(len(scores))
        shuffled = self.rule(name).estimate(scores[order], predicted[order], correct[order], k)
        np.testing.assert_array_equal(shuffled, self.rule(name).estimate(scores, predicted, correct, k))

    def test_a_larger_tolerance_never_labels_less(self, name):
        strict, lax = (self.rule(name, tolerance).estimate(*held_out()) for tolerance in (0.02, 0.2))
        assert (lax <= strict).all()

    def test_nothing_right_nothing_labelled(self, name):
        scores, predicted, correct, k = held_out()
        assert (self.rule(name).estimate(scores, predicted, np.zeros_like(correct), k) == np.inf).all()

    def test_no_points_no_thresholds(self, name):
        empty = np.empty(0)
        assert (self.rule(name).estimate(empty, empty.astype(int), empty.astype(bool), 3) == np.inf).all()

    def test_fewer_points_than_its_support_set_nothing(self, name):
        n = self.rule(name).min_support - 1
        thresholds = self.rule(name).estimate(np.linspace(0, 1, n), np.zeros(n, int), np.ones(n, bool), 2)
        assert (thresholds == np.inf).all()

    def test_parameters_are_kept(self, name):
        rule = self.rule(name)
        before = rule.get_params()
        rule.estimate(*held_out())
        assert rule.get_params() == before == clone(rule).get_params()
