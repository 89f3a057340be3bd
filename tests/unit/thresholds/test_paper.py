"""The paper's rule, against a plain reading of Algorithm 2 and against hand-made cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsieve.errors import ConfigurationError, DataError
from labelsieve.thresholds import PaperRule
from labelsieve.thresholds.risk_curve import risk_curve


def algorithm_2(scores, predicted, correct, n_classes, tolerance, c1, min_points, min_coverage):
    """Word by word: for each class, the smallest observed score that passes."""
    thresholds = []
    for label in range(n_classes):
        group = [(s, c) for s, p, c in zip(scores, predicted, correct, strict=True) if p == label]
        passing = [math.inf]
        for t in {s for s, _ in group}:
            above = [c for s, c in group if s >= t]
            error = above.count(False) / len(above)
            bound = error + c1 * math.sqrt(error * (1 - error))
            if len(above) >= min_points and len(above) / len(group) >= min_coverage and bound <= tolerance:
                passing.append(t)
        thresholds.append(min(passing))
    return thresholds


point = st.tuples(st.integers(0, 12).map(lambda v: v / 12), st.integers(0, 3), st.booleans())


@given(
    points=st.lists(point, max_size=60),
    tolerance=st.sampled_from([0.05, 0.2, 0.4]),
    c1=st.sampled_from([0.0, 0.25, 1.0]),
    min_points=st.integers(1, 12),
    min_coverage=st.sampled_from([0.0, 0.3]),
)
def test_equals_a_plain_loop(points, tolerance, c1, min_points, min_coverage):
    scores, predicted, correct = (list(column) for column in zip(*points, strict=True)) if points else ([], [], [])
    rule = PaperRule(tolerance=tolerance, c1=c1, min_points=min_points, min_coverage=min_coverage)
    expected = algorithm_2(scores, predicted, correct, 4, tolerance, c1, min_points, min_coverage)
    assert rule.estimate(np.array(scores), np.array(predicted, int), np.array(correct, bool), 4).tolist() == expected


def test_eleven_right_of_eleven_pass_and_ten_do_not():
    scores = np.linspace(0.5, 0.9, 11)
    rule = PaperRule(tolerance=0.05)
    right = np.ones(11, bool)
    assert rule.estimate(scores, np.zeros(11, int), right, 1).tolist() == [0.5]
    assert rule.estimate(scores[:10], np.zeros(10, int), right[:10], 1).tolist() == [math.inf]


def test_smallest_passing_threshold_wins_even_if_larger_ones_fail():
    # The highest score is wrong, so every threshold fails until 1 error among many is within the tolerance.
    scores = np.linspace(1, 0, 100)
    correct = np.ones(100, bool)
    correct[0] = False
    threshold = PaperRule(tolerance=0.05).estimate(scores, np.zeros(100, int), correct, 1)
    assert threshold.tolist() == [0.0]


def test_tied_scores_are_accepted_or_refused_together():
    scores = np.r_[np.full(20, 0.9), np.full(20, 0.8)]
    correct = np.r_[np.ones(20, bool), np.tile([True, False], 10)]
    assert PaperRule(tolerance=0.05).estimate(scores, np.zeros(40, int), correct, 1).tolist() == [0.9]


def test_a_class_never_predicted_gets_no_threshold():
    thresholds = PaperRule(tolerance=0.05).estimate(np.ones(20), np.zeros(20, int), np.ones(20, bool), 3)
    assert thresholds.tolist() == [1.0, math.inf, math.inf]


def test_risk_curve_of_the_appendix_toy():
    """x uniform, y = 1 from 0.5 on, ŷ = 1 from 0.25 on, score |x − 0.25|: by hand, on the side ŷ = 1, coverage at t
    is (0.75 − t) / 0.75 and the error (0.25 − t) / (0.75 − t), or 0 from t = 0.25 on."""
    x = (np.arange(100_000) + 0.5) / 100_000
    side = x >= 0.25
    curve = risk_curve(np.abs(x - 0.25)[side], np.ones(side.sum(), int), (x >= 0.5)[side])
    t = curve.threshold
    assert np.abs(curve.coverage - (0.75 - t) / 0.75).max() < 1e-4
    inside = t < 0.74
    by_hand = np.maximum(0.25 - t, 0) / (0.75 - t)
    assert np.abs(curve.error - by_hand)[inside].max() < 1e-3


@pytest.mark.parametrize(
    ("scores", "predicted", "correct", "message"),
    [
        ([0.1, 0.2], [0], [True, True], r"\(2,\), \(1,\) and \(2,\)"),
        ([0.1, float("nan")], [0, 0], [True, True], "1 of 2 are NaN"),
        ([0.1, 0.2], [0, 5], [True, True], "0 to 1; got 0 to 5"),
    ],
)
def test_bad_arrays(scores, predicted, correct, message):
    with pytest.raises(DataError, match=message):
        PaperRule(tolerance=0.1).estimate(np.array(scores), np.array(predicted), np.array(correct), 2)


@pytest.mark.parametrize("tolerance", [0, 1, -0.1, 1.5, "0.05", None])
def test_bad_tolerance(tolerance):
    with pytest.raises(ConfigurationError, match="tolerance must"):
        PaperRule(tolerance=tolerance).estimate(np.ones(3), np.zeros(3, int), np.ones(3, bool), 2)
