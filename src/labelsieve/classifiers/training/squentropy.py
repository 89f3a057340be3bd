"""Cross-entropy plus the square loss on the wrong classes."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.nn import functional

from labelsieve.classifiers.training.base import BatchLoss, OptimiserSettings, TrainTimeMethod, sgd


class Squentropy(TrainTimeMethod):
    """Cross-entropy plus the mean squared logit over the k − 1 wrong classes (Hui, Belkin, Wright 2023)."""

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        def batch_loss(logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            y = labels[rows]
            of_true_class = logits.gather(1, y[:, None]).square().sum(dim=1)
            wrong_squares = (logits.square().sum(dim=1) - of_true_class) / (n_classes - 1)
            return functional.cross_entropy(logits, y) + wrong_squares.mean()

        return batch_loss

    def optimiser(self, parameters: Iterable[torch.nn.Parameter], settings: OptimiserSettings) -> torch.optim.Optimizer:
        return sgd(parameters, settings)
