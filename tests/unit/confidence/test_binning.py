"""Binning, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labelsieve.confidence import Isotonic, ScalingBinning, Temperature, TopLabelBinning
from labelsieve.confidence.binning import bin_means, bin_of, uniform_mass_edges
from labelsieve.types import Outputs


def two_class_outputs(scores, predicted):
    """Logits whose softmax gives the predicted class this probability."""
    scores, predicted = np.asarray(scores, float), np.asarray(predicted)
    probabilities = np.where(np.arange(2) == predicted[:, None], scores[:, None], 1 - scores[:, None])
    return Outputs(np.log(probabilities), np.zeros((len(scores), 1)))


def test_edges_lie_halfway_and_bins_are_even():
    scores = np.array([0.9, 0.1, 0.4, 0.2, 0.8, 0.6])
    edges = uniform_mass_edges(scores, 3)
    assert edges.tolist() == pytest.approx([0.3, 0.7])
    assert bin_of(scores, edges).tolist() == [2, 0, 1, 0, 2, 1]


def test_tied_scores_share_a_bin():
    edges = uniform_mass_edges(np.array([0.5, 0.5, 0.5, 0.9]), 2)
    assert len(set(bin_of(np.array([0.5, 0.5, 0.5]), edges))) == 1


def test_no_bin_is_empty_when_many_scores_are_tied():
    scores = np.array([0.6, 0.7, 0.7, 0.8, 0.9, 0.9, *[1.0] * 6])
    edges = uniform_mass_edges(scores, 4)
    assert (np.bincount(bin_of(scores, edges), minlength=len(edges) + 1) > 0).all()


def test_means_by_hand():
    means = bin_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 2]), 3)
    assert means.tolist() == pytest.approx([2.0, math.nan, 5.0], nan_ok=True)


def test_top_label_binning_by_hand():
    # Class 0 has two bins of four: one right of four below the edge 0.675, three of four above. Class 1 has too few.
    scores = [0.51, 0.52, 0.53, 0.54, 0.81, 0.82, 0.83, 0.84, 0.6, 0.7, 0.8]
    outputs = two_class_outputs(scores, [0] * 8 + [1] * 3)
    y = np.array([1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1])
    fitted = TopLabelBinning(points_per_bin=4).fit(outputs, y)
    new = two_class_outputs([0.501, 0.67, 0.68, 0.99, 0.62, 0.99], [0, 0, 0, 0, 1, 1])
    assert fitted.score(new).tolist() == pytest.approx([0.25, 0.25, 0.75, 0.75, 0.62, 0.99])


def test_scaling_binning_uses_three_disjoint_parts():
    rng = np.random.default_rng(0)
    scores, predicted = rng.uniform(0.5, 1, 90), rng.integers(2, size=90)
    outputs = two_class_outputs(scores, predicted)
    y = np.where(rng.uniform(size=90) < scores, predicted, 1 - predicted)
    fitted = ScalingBinning(n_bins=5, random_state=1).fit(outputs, y)
    parts = fitted.parts_
    assert sorted(np.concatenate(parts).tolist()) == list(range(90))
    assert [len(part) for part in parts] == [30, 30, 30]
    # The same by hand: temperature on the first part, edges on the second, means on the third.
    scaled = Temperature().fit(outputs[parts[0]], y[parts[0]]).score(outputs)
    ordered = np.sort(scaled[parts[1]])
    edges = [(ordered[cut - 1] + ordered[cut]) / 2 for cut in (6, 12, 18, 24)]
    bins = np.digitize(scaled, edges)
    for number in range(5):
        mean = scaled[parts[2]][bins[parts[2]] == number].mean()
        np.testing.assert_allclose(fitted.score(outputs)[bins == number], mean, atol=1e-6)


def test_isotonic_is_the_share_right_where_order_allows():
    outputs = two_class_outputs([0.6, 0.6, 0.7, 0.7, 0.9, 0.9] * 2, [0] * 12)
    y = np.array([1, 1, 0, 1, 0, 0] * 2)
    assert Isotonic().fit(outputs, y).score(outputs)[:6].tolist() == pytest.approx([0, 0, 0.5, 0.5, 1, 1])
