"""Cross-entropy by SGD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from labelsieve.classifiers.training.base import BatchLoss, TrainTimeMethod, Weights, cross_entropy, sgd

if TYPE_CHECKING:
    import torch

    from labelsieve.fitting.members import OptimiserSettings


class Vanilla(TrainTimeMethod):
    """Cross-entropy, minimised by SGD with momentum and weight decay."""

    recordable: ClassVar[bool] = True

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        return lambda logits, rows: cross_entropy(logits, labels.gather(1, rows))

    def optimiser(self, weights: Weights, settings: Sequence[OptimiserSettings]) -> torch.optim.Optimizer:
        return sgd(weights, settings)
