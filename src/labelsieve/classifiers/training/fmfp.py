"""Flat minima for failure prediction: sharpness-aware minimisation and averaged weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch

from labelsieve.classifiers.training.base import BatchLoss, TrainTimeMethod, Weights, cross_entropy
from labelsieve.fitting.members import OptimiserSettings, parameter_groups
from labelsieve.fitting.sam import SAM


class FMFP(TrainTimeMethod):
    """Cross-entropy at a flat minimum (Zhu et al. 2022): SAM steps, then weights averaged over the last epochs.

    ``radius`` is SAM's ρ. ``averages_from`` is the share of epochs after which averaging begins; None leaves it out,
    which is how the auto-labelling paper describes the method.
    """

    recordable: ClassVar[bool] = True
    per_member: ClassVar[tuple[str, ...]] = ("radius",)

    def __init__(self, radius: float = 0.05, averages_from: float | None = 0.6) -> None:
        self.radius = radius
        self.averages_from = averages_from

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        return lambda logits, rows: cross_entropy(logits, labels.gather(1, rows))

    def optimiser(self, weights: Weights, settings: Sequence[OptimiserSettings]) -> torch.optim.Optimizer:
        radii = torch.as_tensor(self.radius).expand(len(settings)).tolist()
        return SAM(parameter_groups(weights, settings), radii, fused=True)
