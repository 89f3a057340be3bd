"""Which classifier a pool gets by itself, and which training."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from labelsieve.data.pool import Pool
from labelsieve.engine.suited import classifier_suited_to, training_suited_to
from labelsieve.errors import ConfigurationError

ROWS = np.random.default_rng(0).normal(size=(50, 6))
UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (ROWS, "features"),
        (UNIT, "kernel"),
        (UNIT.astype(np.float16), "kernel"),
        (np.ones((50, 1)), "features"),
        (np.zeros((5, 8, 8)), "features"),
        (np.zeros((5, 16, 16)), "resnet"),
        (np.zeros((5, 28, 28, 1)), "resnet"),
        (np.zeros((5, 32, 32, 3)), "cnn"),
    ],
)
def test_without_a_gpu(points, expected):
    assert classifier_suited_to(Pool(points), "cpu") == expected


def test_with_a_gpu(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert classifier_suited_to(Pool(np.zeros((5, 32, 32, 3))), "auto") == "resnet"


def test_channels_first_are_refused():
    with pytest.raises(ConfigurationError, match=r"channels last.*moveaxis"):
        classifier_suited_to(Pool(np.zeros((5, 3, 32, 32))), "cpu")


@pytest.mark.parametrize(
    ("classifier", "n_points", "expected"),
    [
        ("kernel", 5_000, "semi-supervised"),
        ("kernel", 1_000_000, "vanilla"),
        ("embedding", 5_000, "semi-supervised"),
        ("embedding", 1_000_000, "vanilla"),
        ("logistic", 5_000, "vanilla"),
        ("features", 5_000, "vanilla"),
        ("resnet", 5_000, "vanilla"),
        (LogisticRegression(), 5_000, "vanilla"),
    ],
)
def test_training(classifier, n_points, expected):
    assert training_suited_to(classifier, n_points) == expected
