"""Cross-entropy plus the square loss on the wrong classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch

from labelsieve.classifiers.training.base import BatchLoss, TrainTimeMethod, Weights, cross_entropy, sgd
from labelsieve.fitting.members import OptimiserSettings


class Squentropy(TrainTimeMethod):
    """Cross-entropy plus the mean squared logit over the k − 1 wrong classes (Hui, Belkin, Wright 2023)."""

    recordable: ClassVar[bool] = True

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        def batch_loss(logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            y = labels.gather(1, rows)
            of_true_class = logits.gather(2, y[:, :, None]).square().sum(dim=2)
            wrong_squares = (logits.square().sum(dim=2) - of_true_class) / (n_classes - 1)
            return cross_entropy(logits, y) + wrong_squares.mean(dim=1)

        return batch_loss

    def optimiser(self, weights: Weights, settings: Sequence[OptimiserSettings]) -> torch.optim.Optimizer:
        return sgd(weights, settings)
