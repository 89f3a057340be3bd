"""Correctness ranking loss."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.nn import functional

from labelsieve.classifiers.training.base import BatchLoss, OptimiserSettings, TrainTimeMethod, sgd


class CRL(TrainTimeMethod):
    """Cross-entropy plus a penalty where confidence is not ordered as correctness was (Moon et al. 2020).

    Each training point has a history: how often it was predicted right so far, c. For neighbours i, j in a batch, with
    κ the largest softmax probability, the penalty is max(0, |cᵢ − cⱼ| − sign(cᵢ − cⱼ)·(κᵢ − κⱼ)), and 0 where the
    histories are equal. ``rank_weight`` scales it.
    """

    def __init__(self, rank_weight: float = 0.7) -> None:
        self.rank_weight = rank_weight

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        history = CorrectnessHistory(labels)

        def batch_loss(logits: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            confidence = logits.softmax(dim=1).amax(dim=1)
            penalty = ranking_loss(confidence, history.share_right(rows))
            history.add(rows, logits)
            return functional.cross_entropy(logits, labels[rows]) + self.rank_weight * penalty

        return batch_loss

    def optimiser(self, parameters: Iterable[torch.nn.Parameter], settings: OptimiserSettings) -> torch.optim.Optimizer:
        return sgd(parameters, settings)


class CorrectnessHistory:
    """How often each training point has been predicted right so far."""

    def __init__(self, labels: torch.Tensor) -> None:
        self._labels = labels
        self._right = torch.zeros(len(labels), device=labels.device)
        self._seen = torch.zeros(len(labels), device=labels.device)

    def share_right(self, rows: torch.Tensor) -> torch.Tensor:
        """Between 0 and 1; 0 before the first look."""
        return self._right[rows] / self._seen[rows].clamp(min=1)

    @torch.no_grad()
    def add(self, rows: torch.Tensor, logits: torch.Tensor) -> None:
        """One more look at these points."""
        self._right[rows] += (logits.argmax(dim=1) == self._labels[rows]).float()
        self._seen[rows] += 1


def ranking_loss(confidence: torch.Tensor, share_right: torch.Tensor) -> torch.Tensor:
    """Mean penalty over each point of a batch and the next one, the last with the first."""
    difference = share_right - share_right.roll(-1)
    gap = confidence - confidence.roll(-1)
    return functional.relu(difference.abs() - difference.sign() * gap).mul(difference != 0).mean()
