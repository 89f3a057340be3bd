"""The paper's setting on MNIST: softmax and the rule ``paper`` come out where the reference does."""

from __future__ import annotations

import numpy as np

import labelsieve as ls


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
