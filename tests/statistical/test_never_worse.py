"""What is chosen by itself against what is plain: the same labels, the same rule, pair by pair."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

import labelsieve as ls
from labelsieve.errors import LabelsieveWarning
from tests.problems import of_unit_length

PAIRS = 20
MAY_LOSE = 0.01


def digits(_seed):
    return load_digits(return_X_y=True)


def many_small_classes(seed):
    """30 classes with 20 examples each."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(30), 20)
    return 3 * rng.normal(size=(30, 10))[y] + rng.normal(size=(600, 10)), y


def one_in_fifty(seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(4000) < 1 / 51).astype(int)
    return rng.normal(size=(4000, 6)) + 1.5 * y[:, None], y


def useless_features(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(1500, 8)), rng.integers(3, size=1500)


@pytest.mark.parametrize(
    ("world", "train_budget", "validation_budget"),
    [(digits, 200, 400), (many_small_classes, 180, 180), (one_in_fifty, 400, 300), (useless_features, 150, 300)],
)
def test_not_worse_than_softmax(world, train_budget, validation_budget):
    assert_not_worse(world, train_budget, validation_budget, {"confidence": ("softmax", "auto")}, PAIRS)


def embedded_digits(_seed):
    x, y = load_digits(return_X_y=True)
    return of_unit_length(x), y


def embedded_small_classes(seed):
    x, y = many_small_classes(seed)
    return of_unit_length(x), y


@pytest.mark.parametrize(
    ("world", "train_budget", "validation_budget"), [(embedded_digits, 150, 300), (embedded_small_classes, 180, 180)]
)
def test_not_worse_than_plain_training(world, train_budget, validation_budget):
    """Points of unit length learn from points without labels too, unless told otherwise."""
    assert_not_worse(world, train_budget, validation_budget, {"training": ("vanilla", "auto")}, PAIRS)


@pytest.mark.parametrize(
    ("world", "train_budget", "validation_budget"),
    [(digits, 150, 300), (many_small_classes, 180, 180), (one_in_fifty, 400, 300), (useless_features, 150, 300)],
)
def test_not_worse_than_scaled_features(world, train_budget, validation_budget):
    """Whether to scale features is chosen by training labels."""
    assert_not_worse(world, train_budget, validation_budget, {"classifier": ("logistic", "auto")}, PAIRS)


def assert_not_worse(world, train_budget, validation_budget, methods, pairs):
    """``methods``: a keyword of autolabel, and what is compared with what."""
    ((part, (plain, better)),) = methods.items()
    coverages = {plain: [], better: []}
    broken = 0
    for seed in range(pairs):
        x, y = world(seed)
        for chosen, of_all_seeds in coverages.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LabelsieveWarning)
                run = ls.autolabel(
                    x, ls.SimulatedAnnotator(y), classes=int(y.max()) + 1, train_budget=train_budget,
                    validation_budget=validation_budget, random_state=seed, progress=False, **{part: chosen},
                )  # fmt: skip
            outcome = run.evaluate(y)
            of_all_seeds.append(outcome.coverage)
            broken += chosen == better and outcome.error is not None and outcome.error > 0.05
    gain = np.mean(coverages[better]) - np.mean(coverages[plain])
    print(f"{world.__name__}: {plain} {np.mean(coverages[plain]):.3f}, {better} {np.mean(coverages[better]):.3f}")
    assert gain >= -MAY_LOSE
    assert broken <= 3  # of 20 at delta 0.05: more has a probability of 1.6 %
