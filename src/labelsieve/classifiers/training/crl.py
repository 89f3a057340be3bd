"""Correctness ranking loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch.nn import functional

from labelsieve.classifiers.training.base import BatchLoss, TrainTimeMethod, Weights, cross_entropy, sgd
from labelsieve.fitting.members import OptimiserSettings


class CRL(TrainTimeMethod):
    """Cross-entropy plus a penalty where confidence is not ordered as correctness was (Moon et al. 2020).

    Each training point has a history: how often it was predicted right so far, c. For neighbours i, j in a batch, with
    κ the largest softmax probability, the penalty is max(0, |cᵢ − cⱼ| − sign(cᵢ − cⱼ)·(κᵢ − κⱼ)), and 0 where the
    histories are equal. ``rank_weight`` scales it.
    """

    recordable: ClassVar[bool] = True
    per_member: ClassVar[tuple[str, ...]] = ("rank_weight",)

    def __init__(self, rank_weight: float = 0.7) -> None:
        self.rank_weight = rank_weight

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        history = CorrectnessHistory(labels)

        def batch_loss(logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            confidence = logits.softmax(dim=2).amax(dim=2)
            penalty = ranking_loss(confidence, history.share_right(rows))
            history.add(rows, logits)
            return cross_entropy(logits, labels.gather(1, rows)) + self.rank_weight * penalty

        return batch_loss

    def optimiser(self, weights: Weights, settings: Sequence[OptimiserSettings]) -> torch.optim.Optimizer:
        return sgd(weights, settings)


class CorrectnessHistory:
    """How often each training point (m, n) of each member has been predicted right so far."""

    def __init__(self, labels: torch.Tensor) -> None:
        self._labels = labels
        self._right = torch.zeros(labels.shape, device=labels.device)
        self._seen = torch.zeros(labels.shape, device=labels.device)

    def share_right(self, rows: torch.Tensor) -> torch.Tensor:
        """Between 0 and 1; 0 before the first look."""
        return self._right.gather(1, rows) / self._seen.gather(1, rows).clamp(min=1)

    @torch.no_grad()
    def add(self, rows: torch.Tensor, logits: torch.Tensor) -> None:
        """One more look at these points."""
        right = (logits.argmax(dim=2) == self._labels.gather(1, rows)).float()
        self._right.scatter_add_(1, rows, right)
        self._seen.scatter_add_(1, rows, torch.ones_like(right))


def ranking_loss(confidence: torch.Tensor, share_right: torch.Tensor) -> torch.Tensor:
    """Mean penalty (m,) over each point of a batch (m, b) and the next one, the last with the first."""
    difference = share_right - share_right.roll(-1, dims=1)
    gap = confidence - confidence.roll(-1, dims=1)
    return functional.relu(difference.abs() - difference.sign() * gap).mul(difference != 0).mean(dim=1)
