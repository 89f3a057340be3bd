"""What every threshold rule must do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from labelsieve import registry


def problem(n=1200, k=4, seed=0):
    """Held-out scores that are higher where the prediction is right, a class that is never predicted, and a pool."""
    rng = np.random.default_rng(seed)
    predicted, correct = rng.integers(k - 1, size=n + 5000), rng.uniform(size=n + 5000) < 0.8
    scores = rng.normal(size=n + 5000) + 4 * correct
    return scores[:n], predicted[:n], correct[:n], scores[n:], predicted[n:]


@pytest.mark.parametrize("name", registry.BUILT_IN["thresholds"])
class TestThresholdRuleContract:
    def rule(self, name, tolerance=0.1):
        rule = registry.create("thresholds", name)
        promise = {"tolerance": tolerance, "delta": 0.05}
        return rule.set_params(**{key: value for key, value in promise.items() if key in rule.get_params()})

    def estimate(self, name, tolerance=0.1, order=None, correct=None):
        scores, predicted, right, pool_scores, pool_predicted = problem()
        rows = np.arange(len(scores)) if order is None else order
        right = right if correct is None else correct
        return self.rule(name, tolerance).estimate(
            scores[rows], predicted[rows], right[rows], 4, pool_scores=pool_scores, pool_predicted=pool_predicted
        )

    def test_one_threshold_per_class(self, name):
        thresholds = self.estimate(name)
        assert thresholds.shape == (4,)
        assert np.isfinite(thresholds[:3]).all()

    def test_order_does_not_matter(self, name):
        order = np.random.default_rng(1).permutation(1200)
        np.testing.assert_array_equal(self.estimate(name, order=order), self.estimate(name))

    def test_a_larger_tolerance_never_labels_less(self, name):
        lax, strict = self.estimate(name, 0.2), self.estimate(name, 0.02)
        assert (lax <= strict)[:3].all()  # the last class is never predicted

    def test_nothing_right_nothing_labelled(self, name):
        assert (self.estimate(name, correct=np.zeros(1200, bool)) == np.inf).all()

    def test_no_points_no_thresholds(self, name):
        empty = np.empty(0)
        assert (self.rule(name).estimate(empty, empty.astype(int), empty.astype(bool), 3) == np.inf).all()

    def test_fewer_points_than_its_support_set_nothing(self, name):
        n = self.rule(name).min_support - 1
        pool = {"pool_scores": np.linspace(0, 1, 10_000), "pool_predicted": np.zeros(10_000, int)}
        thresholds = self.rule(name).estimate(np.linspace(0, 1, n), np.zeros(n, int), np.ones(n, bool), 2, **pool)
        assert (thresholds == np.inf).all()

    def test_parameters_are_kept(self, name):
        rule = self.rule(name)
        before = rule.get_params()
        rule.estimate(*problem()[:3], 4)
        assert rule.get_params() == before == clone(rule).get_params()
