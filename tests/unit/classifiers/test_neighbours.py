"""What labelled neighbours say, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from labelsieve.classifiers import neighbours
from labelsieve.classifiers.neighbours import LabelledNeighbours
from labelsieve.classifiers.sklearn_classifier import SklearnClassifier
from labelsieve.types import Outputs

CROSS = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
"""Their centre is the origin, so that cosines are plain."""


def saying(features, predicted, k=3):
    return Outputs(np.eye(k)[predicted], np.asarray(features, dtype=float))


def test_by_hand(monkeypatch):
    monkeypatch.setattr(neighbours, "_NEAREST", 2)
    known = LabelledNeighbours(CROSS, np.array([0, 0, 1, 1]), 3)
    half = np.sqrt(0.5)
    (towards_0, askew) = known.evidence(saying([[2, 2], [1, -1]], [0, 0]))
    # The two nearest of (2, 2) are both of class 0, those of (1, -1) one of each, all at the cosine of 45 degrees.
    np.testing.assert_allclose(towards_0, [1, 1, half, half, half, 2 * half, np.log(3)], atol=1e-6)
    np.testing.assert_allclose(askew, [0.5, 0.5, half, half, half, 0, np.log(3)], atol=1e-6)


def test_a_class_without_training_points_has_nothing_near():
    known = LabelledNeighbours(CROSS, np.array([0, 0, 1, 1]), 3)
    ((agreement, weighted, *_, own, ahead, size),) = known.evidence(saying([[2, 2]], [2]))
    assert (agreement, weighted, own, size) == (0, 0, -1, 0)
    assert ahead < -1


def test_points_in_chunks_are_the_same(monkeypatch):
    rng = np.random.default_rng(0)
    known = LabelledNeighbours(rng.normal(size=(50, 5)), rng.integers(3, size=50), 3)
    outputs = saying(rng.normal(size=(40, 5)), rng.integers(3, size=40))
    whole = known.evidence(outputs)
    monkeypatch.setattr(neighbours, "AT_ONCE", 150)
    np.testing.assert_allclose(known.evidence(outputs), whole, rtol=1e-5, atol=1e-6)


def test_a_classifier_looks_for_evidence_only_when_asked():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(30, 4)), rng.integers(3, size=30)
    classifier = SklearnClassifier(GaussianNB()).fit(x, y, 3, seed=0)
    outputs = classifier.outputs(x[:5])
    assert classifier.neighbours_ is None
    np.testing.assert_allclose(outputs.evidence, LabelledNeighbours(x, y, 3).evidence(outputs), atol=1e-5)
    assert outputs[2:4].evidence == pytest.approx(outputs.evidence[2:4])
