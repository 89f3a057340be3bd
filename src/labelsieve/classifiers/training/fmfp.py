"""Flat minima for failure prediction: sharpness-aware minimisation and averaged weights."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.nn import functional

from labelsieve.classifiers.training.base import BatchLoss, OptimiserSettings, TrainTimeMethod
from labelsieve.fitting.sam import SAM


class FMFP(TrainTimeMethod):
    """Cross-entropy at a flat minimum (Zhu et al. 2022): SAM steps, then weights averaged over the last epochs.

    ``radius`` is SAM's ρ. ``averages_from`` is the share of epochs after which averaging begins; None leaves it out,
    which is how the auto-labelling paper describes the method.
    """

    def __init__(self, radius: float = 0.05, averages_from: float | None = 0.6) -> None:
        self.radius = radius
        self.averages_from = averages_from

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        return lambda logits, rows: functional.cross_entropy(logits, labels[rows])

    def optimiser(self, parameters: Iterable[torch.nn.Parameter], settings: OptimiserSettings) -> torch.optim.Optimizer:
        return SAM(
            parameters,
            radius=self.radius,
            lr=settings.learning_rate,
            momentum=settings.momentum,
            weight_decay=settings.weight_decay,
        )
