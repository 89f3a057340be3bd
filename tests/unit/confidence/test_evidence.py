"""Evidence, the automatic choice, and what they expect to let through."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.confidence import Auto, Evidence
from labelsieve.confidence.evidence import evidence_columns
from labelsieve.errors import ConfigurationError
from labelsieve.expectation import area_under_risk, coverage_at, coverage_expected_at
from labelsieve.types import Outputs, joined


def world(n=2000, k=4, telling=0.0, seed=0):
    """Logits that say nothing of being right, and one column of evidence that tells as much as is wanted."""
    rng = np.random.default_rng(seed)
    y, right = rng.integers(k, size=n), rng.random(n) < 0.8
    predicted = np.where(right, y, (y + 1) % k)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), predicted] = logits.max(axis=1) + rng.exponential(size=n)
    column = (telling * right + rng.normal(size=n))[:, None]
    return Outputs(logits, rng.normal(size=(n, 2)), lambda: column), y


def test_evidence_that_tells_is_used():
    outputs, y = world(telling=4.0)
    others, truth = world(telling=4.0, seed=1)
    right = others.predicted == truth
    scores = Evidence().fit(outputs, y).score(others)
    assert coverage_at(0.05, scores, right) > coverage_at(0.05, others.top_probabilities, right) + 0.5
    assert np.mean(scores) == pytest.approx(right.mean(), abs=0.03)  # a probability of being right


def test_rounding_errors_are_no_evidence():
    """Logarithms of probabilities, as scikit-learn has them: their energy is 0 up to the last digits."""
    outputs, _ = world()
    logarithms = Outputs(np.log(outputs.probabilities), outputs.features, lambda: np.zeros((2000, 0)))
    assert set(evidence_columns(logarithms)[:, -1]) == {0.0}
    raw = Outputs(outputs.logits, outputs.features, lambda: np.zeros((2000, 0)))
    assert len(set(evidence_columns(raw)[:, -1])) > 1000


def test_the_automatic_choice_takes_what_lets_more_through():
    outputs, y = world(telling=4.0)
    chosen = Auto(tolerance=0.05).fit(outputs, y)
    assert chosen.choice_.startswith("evidence. Of the 2,000 training points")
    np.testing.assert_array_equal(chosen.score(outputs), Evidence().fit(outputs, y).score(outputs))


def test_the_automatic_choice_keeps_softmax_where_evidence_is_noise():
    rng = np.random.default_rng(0)
    n, k = 3000, 4
    y, strength = rng.integers(k, size=n), rng.exponential(2.0, size=n)
    logits = 0.1 * rng.normal(size=(n, k))
    right = rng.random(n) < 1 - 0.75 * np.exp(-strength)  # softmax is all there is to know
    logits[np.arange(n), np.where(right, y, (y + 1) % k)] += strength
    noise = rng.normal(size=(n, 40))
    outputs = Outputs(logits, noise, lambda: noise)
    chosen = Auto(tolerance=0.05).fit(outputs[:200], y[:200])
    assert chosen.choice_.startswith("softmax")
    np.testing.assert_array_equal(chosen.score(outputs), outputs.top_probabilities)


def test_with_few_points_better_by_chance_is_not_enough():
    """Evidence of noise: among many small samples, half would let more through by it."""
    chosen = [Auto(tolerance=0.2, random_state=seed).fit(*world(120, seed=seed)) for seed in range(40)]
    taken = sum(one.choice_.startswith("evidence") for one in chosen)
    assert taken <= 5  # one in forty is to be expected where neither is better
    assert sum("may be chance" in one.choice_ for one in chosen) >= 10


def test_what_is_expected_is_what_comes():
    outputs, y = world(5000, telling=2.0)
    others, truth = world(5000, telling=2.0, seed=1)
    for method in (Evidence(), Auto(tolerance=0.05)):
        scores = method.fit(outputs, y).score(others)
        expected = method.expected_coverage(scores, 0.05)
        assert expected == pytest.approx(coverage_at(0.05, scores, others.predicted == truth), abs=0.06)


@pytest.mark.parametrize(("n", "telling", "says"), [(300, 0.0, False), (3000, 0.0, True), (300, 6.0, True)])
def test_with_few_mistakes_softmax_is_tested_as_softmax_alone(n, telling, says):
    """What they let it expect says when to stop asking, not where the certified test begins."""
    chosen, outputs = Auto(tolerance=0.05).fit(*world(n, telling=telling)), world(seed=1)[0]
    scores = chosen.score(outputs)
    assert chosen.choice_.startswith("evidence" if telling else "softmax")
    assert chosen.expected_coverage(scores, 0.05) is not None
    assert (chosen.coverage_to_test(scores, 0.05) is not None) is says


def test_coverage_by_hand():
    scores, right = np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True])
    assert coverage_at(0.25, scores, right) == 1.0
    assert coverage_at(0.2, scores, right) == 0.5
    assert coverage_at(0.2, np.array([0.9, 0.8, 0.8, 0.6]), right) == 0.25  # a tie is one step
    assert coverage_at(0.2, scores, ~np.ones(4, dtype=bool)) == 0.0
    assert coverage_expected_at(0.2, np.array([1.0, 0.9, 0.5, 0.1])) == 0.75
    assert area_under_risk(scores, right) == pytest.approx((0 + 0 + 1 + 1) / 4 / 4)


def test_columns_are_finite_for_certain_predictions_and_two_classes():
    sure = Outputs(np.array([[1000.0, 0.0], [0.0, 0.0]]), np.zeros((2, 1)))
    columns = evidence_columns(sure)
    assert np.isfinite(columns).all()
    assert columns[0, 2] > columns[1, 2] == 0  # margin


def test_joined_outputs_keep_their_evidence():
    one, _ = world(10)
    other, _ = world(5, seed=1)
    both = joined([one, other])
    np.testing.assert_array_equal(both.evidence, np.r_[one.evidence, other.evidence])
    np.testing.assert_array_equal(both[8:12].evidence, both.evidence[8:12])


@pytest.mark.parametrize("folds", [1, -1, 2.5])
def test_folds_that_cannot_be(folds):
    for method in (Evidence(folds), Auto(folds=folds)):
        with pytest.raises(ConfigurationError, match="folds must be 0"):
            method.check_parameters()
