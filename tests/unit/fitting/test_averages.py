"""Moving averages of weights, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from labelsieve.classifiers import TorchClassifier
from labelsieve.fitting.averages import MovingAverage
from tests.networks import Linear


def test_the_first_weights_are_forgotten_and_later_ones_slowly():
    module = nn.Linear(1, 1, bias=False)
    nn.init.constant_(module.weight, 1000.0)
    average = MovingAverage(module, decay=0.2)
    expected = 1000.0
    for step, weight in enumerate((1.0, 2.0, 4.0, 8.0, 16.0), start=1):
        nn.init.constant_(module.weight, weight)
        average.follow()
        decay = min(0.2, step / (step + 9))
        expected = decay * expected + (1 - decay) * weight
    assert average.module.weight.item() == pytest.approx(expected)
    average.apply()
    assert module.weight.item() == pytest.approx(expected)


def test_batch_statistics_are_averaged_too_and_counts_are_not():
    module = nn.BatchNorm1d(1)
    average = MovingAverage(module, decay=0.5)
    module.running_mean.fill_(10.0)
    module.num_batches_tracked.fill_(7)
    for _ in range(60):
        average.follow()
    average.apply()
    assert float(module.running_mean) == pytest.approx(10.0, abs=1e-3)
    assert int(module.num_batches_tracked) == 7


def test_a_classifier_predicts_with_the_average():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    classifier = TorchClassifier(Linear, epochs=6, batch_size=40, average_decay=0.5, device="cpu")
    visited: list[torch.Tensor] = []
    classifier.fit(x, y, 2, seed=0, progress=lambda _: visited.append(classifier.module_.layer.weight.detach().clone()))
    first = Linear((3,), 2).layer.weight.detach()  # any: nothing is left of it but a tenth of a tenth and so on
    expected = first
    for step, weight in enumerate(visited, start=1):
        decay = min(0.5, step / (step + 9))
        expected = decay * expected + (1 - decay) * weight
    torch.testing.assert_close(classifier.module_.layer.weight.detach(), expected, rtol=0, atol=2e-3)
    assert not torch.allclose(classifier.module_.layer.weight.detach(), visited[-1], atol=2e-3)
