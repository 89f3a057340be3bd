"""Evidence, the automatic choice, and what they expect to let through."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone

from labelsieve.confidence import Auto, Evidence
from labelsieve.confidence.auto import nearest_that_may_be_best
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


def with_much_noise(n, seed):
    """Softmax says all there is to know, and fifteen columns say nothing."""
    rng = np.random.default_rng(seed)
    y, strength = rng.integers(4, size=n), rng.exponential(2.0, size=n)
    right, logits = rng.random(n) < 1 - 0.75 * np.exp(-strength), 0.1 * rng.normal(size=(n, 4))
    logits[np.arange(n), np.where(right, y, (y + 1) % 4)] += strength
    noise = rng.normal(size=(n, 15))
    return Outputs(logits, noise, lambda: noise), y


def test_with_few_mistakes_evidence_is_held_to_softmax():
    """Of noise it would make something; held to softmax it makes less, and is not taken where it is none the better."""
    lost = {}
    for method in (Evidence(), Auto(tolerance=0.1)):
        areas = []
        for seed in range(20):
            others, truth = with_much_noise(3000, 1000 + seed)
            fitted = clone(method).set_params(random_state=seed).fit(*with_much_noise(120, seed))
            right = others.predicted == truth
            areas.append(
                area_under_risk(fitted.score(others), right) - area_under_risk(others.top_probabilities, right)
            )
        lost[type(method)] = np.mean(areas)
    assert lost[Auto] < 0.2 * lost[Evidence]


def test_the_weaker_the_regression_the_nearer_to_softmax():
    outputs, y = world(300, telling=1.0)
    others, _ = world(seed=1)
    agreement = [
        spearmanr(Evidence(strength=strength, anchored=True).fit(outputs, y).score(others), others.top_probabilities)[0]
        for strength in (1e-6, 1e-2, 10.0)
    ]
    assert agreement[0] > 0.999
    assert agreement == sorted(agreement, reverse=True)
    assert agreement[-1] < 0.9


def test_the_nearest_to_softmax_that_may_be_best_by_hand():
    """The best loses 1 on average; the standard error of what another loses beyond it is 0.1 here."""
    best = np.ones(100)
    beyond = np.tile([-1.0, 1.0], 50)  # of mean 0 and standard deviation 1
    assert nearest_that_may_be_best([best + beyond + 0.11, best + beyond + 0.09, best]) == 1
    assert nearest_that_may_be_best([best + beyond + 0.09, best + beyond + 0.09, best]) == 0
    assert nearest_that_may_be_best([best + beyond + 0.2, best, best + beyond + 0.05]) == 1
    assert nearest_that_may_be_best([best + beyond + 0.2, best + beyond + 0.11, best]) == 2


def test_what_held_evidence_expects_is_what_comes():
    """Weak regressions shrink; what they expect is calibrated by points they have not seen."""
    missed = []
    for seed in range(20):
        chosen = Auto(tolerance=0.1, random_state=seed).fit(*world(300, telling=1.5, seed=seed))
        others, truth = world(3000, telling=1.5, seed=1000 + seed)
        if chosen.evidence_:
            scores = chosen.score(others)
            missed.append(chosen.expected_coverage(scores, 0.1) - coverage_at(0.1, scores, others.predicted == truth))
    assert len(missed) >= 15
    assert abs(np.mean(missed)) < 0.05


def test_what_tells_is_taken_with_few_mistakes_too():
    chosen = [Auto(tolerance=0.2, random_state=seed).fit(*world(120, telling=4.0, seed=seed)) for seed in range(10)]
    assert all(one.few_mistakes_ for one in chosen)
    assert all(one.evidence_.anchored for one in chosen if one.evidence_)
    assert sum(one.choice_.startswith("evidence") for one in chosen) >= 9


def test_no_evidence_where_the_tolerance_allows_hardly_a_mistake():
    """Of 120 points, 5 % are six, and 4 % are not five."""
    by_tolerance = {tolerance: Auto(tolerance=tolerance).fit(*world(120, telling=4.0)) for tolerance in (0.04, 0.05)}
    assert by_tolerance[0.05].choice_.startswith("evidence")
    assert by_tolerance[0.04].choice_.startswith("softmax")
    assert by_tolerance[0.04].choice_.endswith("too few points to judge evidence by")


def test_what_may_be_chance_is_said():
    """Where neither says anything, evidence lets more of the training points through now and then."""
    chosen = [Auto(tolerance=0.2, random_state=seed).fit(*world(120, seed=seed)).choice_ for seed in range(50)]
    assert any(choice.startswith("softmax") and "may be chance" in choice for choice in chosen)
    assert not any(choice.startswith("evidence") and "may be chance" in choice for choice in chosen)


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
