"""The paper's setting on MNIST: softmax and the rule ``paper`` come out where the reference does."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

import labelsieve as ls
from labelsieve import registry


def test_lenet_softmax_paper(shared_data):
    data = np.load(shared_data / "mnist" / "mnist.npz")
    x, y = data["x_train"][:48_000], data["y_train"][:48_000]
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(y), classifier="lenet", confidence="softmax", thresholds="paper", train_budget=500,
        validation_budget=500, progress=False,
    )  # fmt: skip
    outcome = run.evaluate(y)
    assert run.human_labels == 1000
    assert 0.70 <= outcome.coverage <= 0.85
    assert 0.02 <= outcome.error <= 0.07


def test_colander_sorts_at_least_as_well_as_softmax(shared_data):
    """LeNet trained on 500 images, 2,000 calibration points, 10,000 unseen ones."""
    data = np.load(shared_data / "mnist" / "mnist.npz")
    x, y = data["x_train"], data["y_train"].astype(int)
    order = np.random.default_rng(0).permutation(len(x))
    train, calibration, unseen = order[:500], order[500:2500], order[2500:12500]
    lenet = registry.create("classifier", "lenet").fit(x[train], y[train], 10, seed=0)
    fitted = ls.confidence.Colander(random_state=0).fit(lenet.outputs(x[calibration]), y[calibration])
    outputs = lenet.outputs(x[unseen])
    right = outputs.predicted == y[unseen]
    softmax, colander = ls.confidence.Softmax().score(outputs), fitted.score(outputs)
    assert roc_auc_score(right, colander) >= roc_auc_score(right, softmax) - 0.005
    assert coverage_at(0.05, colander, right) >= coverage_at(0.05, softmax, right)


def coverage_at(error, scores, right):
    """Largest share of points from the top down among which at most this share is wrong."""
    best_first = right[np.argsort(-scores, kind="stable")]
    passes = np.cumsum(~best_first) / np.arange(1, len(right) + 1) <= error
    return (np.flatnonzero(passes).max() + 1) / len(right) if passes.any() else 0.0
