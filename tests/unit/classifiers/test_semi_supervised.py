"""Semi-supervised training: what it does by hand, and that points without labels help."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from labelsieve.classifiers import MLP, SklearnClassifier, TorchClassifier
from labelsieve.classifiers.label_spreading import LabelSpreading
from labelsieve.classifiers.training.semi_supervised import SemiSupervised
from labelsieve.fitting.members import OptimiserSettings
from tests.problems import quick_classifier, striped_images


def test_only_confident_pseudo_labels_count():
    taught = torch.tensor([[4.0, 0.0], [0.0, 4.0], [1.0, 0.0]])  # 0.982, 0.982 and 0.731
    logits = torch.tensor([[1.0, 0.0], [1.0, 0.0], [9.0, -9.0]])
    right, wrong = math.log(1 + math.e**-1), math.log(1 + math.e)
    loss = SemiSupervised(threshold=0.95).unlabelled_loss(taught, logits)
    assert float(loss) == pytest.approx((right + wrong) / 3, rel=1e-5)
    assert float(SemiSupervised(threshold=0.95, weight=2.0).unlabelled_loss(taught, logits)) == pytest.approx(
        2 * (right + wrong) / 3, rel=1e-5
    )
    assert float(SemiSupervised(threshold=0.99).unlabelled_loss(taught, logits)) == 0


@pytest.mark.parametrize(("own", "taken"), [(0.05, 0.03), (0.01, 0.01)])
def test_a_network_keeps_its_own_rate_only_if_that_is_lower(own, taken):
    (group,) = SemiSupervised().optimiser([torch.zeros(1, 2)], [OptimiserSettings(own, 0.0)]).param_groups
    assert group["lr"] == taken


def test_few_labels_are_gone_through_as_often_as_it_takes():
    x, y = striped_images(20)
    epochs: list[float] = []
    classifier = quick_classifier("mlp").with_training(SemiSupervised(min_steps=60))
    classifier.fit(x, y, 3, seed=0, unlabelled=x, progress=epochs.append)
    assert len(epochs) == 20  # three batches of 8, 8 and 4 in each


def test_a_network_learns_from_points_without_labels():
    """Two clouds in 100 dimensions, 10 labels: the others show in which direction the clouds lie apart."""
    gains = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.arange(1510) % 2
        x = rng.normal(size=(1510, 100)) + 0.5 * y[:, None]
        settings = {"epochs": 200, "batch_size": 10, "cosine_period": 200, "device": "cpu"}
        plain = TorchClassifier(MLP(hidden=()), **settings).fit(x[:10], y[:10], 2, seed=seed)
        method = SemiSupervised(unlabelled_ratio=10, min_steps=0)
        taught = TorchClassifier(MLP(hidden=()), method, **settings)
        taught.fit(x[:10], y[:10], 2, seed=seed, unlabelled=x[10:1010])
        gains.append(
            np.subtract(*((model.outputs(x[1010:]).predicted == y[1010:]).mean() for model in (taught, plain)))
        )
    assert np.mean(gains) > 0.03


def test_labels_spread_to_points_that_look_alike():
    """Handwritten digits, 100 of them labelled."""
    x, y = load_digits(return_X_y=True)
    gains = []
    for seed in range(3):
        labelled, others, unseen = np.split(np.random.default_rng(seed).permutation(len(y)), [100, 1000])
        plain = quick_classifier("logistic")
        spreading = plain.with_training(SemiSupervised())
        fits = (
            spreading.fit(x[labelled], y[labelled], 10, seed=0, unlabelled=x[others]),
            plain.fit(x[labelled], y[labelled], 10, seed=0),
        )
        gains.append(np.subtract(*((model.outputs(x[unseen]).predicted == y[unseen]).mean() for model in fits)))
    assert np.mean(gains) > 0.02


def test_labels_do_not_spread_where_neighbours_are_of_any_class():
    """One direction of 30 tells the classes apart, and a linear classifier finds it; neighbours know nothing of it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 30))
    y = (x[:, 0] > 0).astype(np.int64)
    classifier = SklearnClassifier(LogisticRegression(), training=SemiSupervised())
    classifier.fit(x[:300], y[:300], 2, seed=0, unlabelled=x[300:])
    plain = SklearnClassifier(LogisticRegression()).fit(x[:300], y[:300], 2, seed=0)
    np.testing.assert_array_equal(classifier.outputs(x).logits, plain.outputs(x).logits)


@pytest.mark.parametrize("clouds", [True, False])
def test_what_was_found_about_spreading_stands_for_parts_of_the_labels(clouds):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 30))
    y = (x[:, 0] > 0).astype(np.int64)
    in_clouds = x + 10 * y[:, None]
    here, elsewhere = (in_clouds, x) if clouds else (x, in_clouds)
    classifier = SklearnClassifier(LogisticRegression(), training=SemiSupervised())
    whole = classifier.fit(here[:300], y[:300], 2, seed=0, unlabelled=here[300:])
    # A part that would find the opposite.
    part = whole.settled().fit(elsewhere[:200], y[:200], 2, seed=0, unlabelled=elsewhere[300:])
    assert (part.spreading_ is not None) == (whole.spreading_ is not None) == clouds


@pytest.mark.parametrize("n", [19, 21])
def test_a_class_with_a_single_label_is_no_trouble(n):
    x, y = np.random.default_rng(0).normal(size=(60, 3)), np.zeros(60, dtype=np.int64)
    y[n - 1] = 1
    classifier = SklearnClassifier(LogisticRegression(), training=SemiSupervised())
    outputs = classifier.fit(x[:n], y[:n], 2, seed=0, unlabelled=x[n:]).outputs(x)
    assert np.isfinite(outputs.logits).all()


def test_points_without_labels_change_the_fingerprint():
    x, y = striped_images(60)
    classifier = SklearnClassifier(LogisticRegression(), training=SemiSupervised())
    prints = {classifier.fit(x, y, 3, seed=0, unlabelled=others).fingerprint() for others in (x, x + 1)}
    prints.add(classifier.fit(x, y, 3, seed=0).fingerprint())
    assert len(prints) == 3


def test_spreading_by_hand():
    """Labels at 0 and 3, a point at 1 that hears the one at 0 and the one at 3 alike far, and weakly."""
    x, y, unlabelled = np.array([[0.0], [3.0]]), np.array([0, 1]), np.array([[1.0]])
    said = np.array([[0.5, 0.5]])
    spreading = LabelSpreading(x, y, unlabelled, said, 2, neighbours=2, spread=0.5)
    # The reach is the median distance to the second neighbour, that of 3, 3 and 2.
    near, far = math.exp(-((1 / 3) ** 2)), math.exp(-((2 / 3) ** 2))
    heard = 0.5 * near / (near + far) + 0.5 * 0.5
    np.testing.assert_allclose(spreading._opinions, [[1, 0], [0, 1], [heard, 1 - heard]])
    # A new point at the place of the first: it hears that one with weight 1, and the one at 1 with weight near.
    listened = (1 + near * heard) / (1 + near)
    joined = np.array([0.5 * listened + 0.5 * 0.8, 0.5 * (1 - listened) + 0.5 * 0.2]) * [0.8, 0.2]
    found = spreading(np.array([[0.0]]), np.array([[0.8, 0.2]]))
    np.testing.assert_allclose(found[0], joined / joined.sum(), rtol=1e-4)


@pytest.mark.parametrize(
    "x", [np.zeros((6, 2)), np.array([[0.0], [1.0], [2.0], [0.0], [1.0], [1e6]])], ids=["twins", "far"]
)
def test_twins_and_points_far_out_are_no_trouble(x):
    classifier = SklearnClassifier(LogisticRegression(), training=SemiSupervised())
    outputs = classifier.fit(x, np.arange(6) % 2, 2, seed=0, unlabelled=x).outputs(x)
    assert np.isfinite(outputs.logits).all()
    np.testing.assert_allclose(outputs.probabilities.sum(axis=1), 1)
