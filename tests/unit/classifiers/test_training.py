"""Train-time methods, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from labelsieve.classifiers import TorchClassifier
from labelsieve.classifiers.training.crl import CRL, CorrectnessHistory, ranking_loss
from labelsieve.classifiers.training.fmfp import FMFP
from labelsieve.classifiers.training.squentropy import Squentropy
from tests.networks import Linear


def test_squentropy_by_hand():
    logits, y = torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]]), torch.tensor([2, 0])
    cross_entropy = -(3 - math.log(math.e**1 + math.e**-2 + math.e**3)) - (0.5 - math.log(math.e**0.5 + 1 + math.e**-1))
    squares = (1 + 4) / 2 + (0 + 1) / 2
    loss = Squentropy().loss(y[None], 3)(logits[None], torch.tensor([[0, 1]]))
    assert float(loss) == pytest.approx((cross_entropy + squares) / 2, rel=1e-6)


def test_crl_ranking_loss_by_hand_on_a_batch_of_four():
    confidence = torch.tensor([0.9, 0.6, 0.8, 0.5])
    share_right = torch.tensor([1.0, 0.5, 0.5, 0.0])
    # 0 and 1: difference 0.5, gap 0.3, so 0.2 short. 1 and 2: equal histories, nothing. 2 and 3: difference 0.5, gap
    # 0.3, 0.2 short. 3 and 0: difference -1, the other way round a gap of 0.4, so 0.6 short.
    assert float(ranking_loss(confidence[None], share_right[None])) == pytest.approx((0.2 + 0 + 0.2 + 0.6) / 4)


def test_crl_history_and_weight_on_a_batch_of_four():
    labels = torch.tensor([0, 1, 0, 1])
    rows = torch.tensor([2, 0, 3, 1])
    logits = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [1.0, 0.0]])
    loss = CRL(rank_weight=0.5).loss(labels[None], 2)
    plain = functional.cross_entropy(logits, labels[rows])
    # First look: no history, so nothing to rank by.
    assert float(loss(logits[None], rows[None])) == pytest.approx(float(plain))
    # Second look: points 2 and 3 (first and third of the batch) were right, the others wrong.
    penalty = ranking_loss(logits.softmax(1).amax(1)[None], torch.tensor([[1.0, 0.0, 1.0, 0.0]]))
    assert float(penalty) > 0
    assert float(loss(logits[None], rows[None])) == pytest.approx(float(plain + 0.5 * penalty))


def test_history_counts_the_share_right():
    history = CorrectnessHistory(torch.tensor([[0, 1]]))
    both = torch.tensor([[0, 1]])
    assert history.share_right(both).tolist() == [[0.0, 0.0]]
    history.add(both, torch.tensor([[[1.0, 0.0], [1.0, 0.0]]]))
    history.add(both, torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]))
    assert history.share_right(both).tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize(("start", "first"), [(0.6, 6), (0.0, 0), (0.99, 9), (None, None)])
def test_fmfp_averages_the_weights_of_the_last_epochs(start, first):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.integers(2, size=40)
    classifier = TorchClassifier(Linear, training=FMFP(averages_from=start), epochs=10, device="cpu")
    visited: list[torch.Tensor] = []

    def watch(_share):
        visited.append(classifier.module_.layer.weight.detach().clone())

    classifier.fit(x, y, 2, seed=0, progress=watch)
    expected = visited[-1] if first is None else torch.stack(visited[first:]).mean(dim=0)
    torch.testing.assert_close(classifier.module_.layer.weight.detach(), expected, rtol=1e-5, atol=1e-6)


def test_averaged_weights_get_batch_statistics_of_their_own():
    class WithBatchNorm(Linear):
        def __init__(self, shape, n_classes):
            super().__init__(shape, n_classes)
            self.norm = nn.BatchNorm1d(shape[0])

        def forward(self, x):
            normed = self.norm(x)
            return self.layer(normed), normed

    rng = np.random.default_rng(0)
    x, y = rng.normal(3.0, 2.0, size=(64, 3)), rng.integers(2, size=64)
    classifier = TorchClassifier(WithBatchNorm, training=FMFP(), epochs=5, device="cpu").fit(x, y, 2, seed=0)
    # Inputs reach the network scaled, so the statistics of the whole training set are 0.
    torch.testing.assert_close(classifier.module_.norm.running_mean, torch.zeros(3), atol=0.02, rtol=0)
