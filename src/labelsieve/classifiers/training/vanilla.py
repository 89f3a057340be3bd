"""Cross-entropy by SGD."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.nn import functional

from labelsieve.classifiers.training.base import BatchLoss, OptimiserSettings, TrainTimeMethod, sgd


class Vanilla(TrainTimeMethod):
    """Cross-entropy, minimised by SGD with momentum and weight decay."""

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        return lambda logits, rows: functional.cross_entropy(logits, labels[rows])

    def optimiser(self, parameters: Iterable[torch.nn.Parameter], settings: OptimiserSettings) -> torch.optim.Optimizer:
        return sgd(parameters, settings)
