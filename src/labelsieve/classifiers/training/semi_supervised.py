"""Learning from points without labels: what the model is sure of, it must also say when it sees less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from labelsieve.classifiers.training.base import BatchLoss, LearnsFromUnlabelled, Weights, cross_entropy, sgd

if TYPE_CHECKING:
    import torch

    from labelsieve.fitting.members import OptimiserSettings


class SemiSupervised(LearnsFromUnlabelled):
    """For networks, consistency with confident pseudo-labels (FixMatch, Sohn et al. 2020), taught by a moving average
    of the weights (Tarvainen, Valpola 2017), which is also what predicts.

    Where the average gives a class at least ``threshold`` for a point without a label, seen under weak augmentation,
    the network has to say the same of it under strong augmentation; ``weight`` scales that part of the loss. At most
    ``n_unlabelled`` such points are drawn, and each step looks at ``unlabelled_ratio`` of them for every labelled one;
    few labels are gone through so often that there are ``min_steps``. The rate is ``learning_rate``, or the
    network's own if that is lower.

    For estimators of scikit-learn, which know no gradients, labels that spread over a graph of ``neighbours`` instead:
    each point hears its neighbours and keeps ``1 - spread`` of what the estimator says (``classifiers/
    label_spreading.py``). They spread only if that helps with training labels that are left out.
    """

    recordable: ClassVar[bool] = True

    def __init__(
        self,
        threshold: float = 0.95,
        weight: float = 1.0,
        unlabelled_ratio: int = 7,
        average_decay: float = 0.999,
        min_steps: int = 2000,
        learning_rate: float = 0.03,
        n_unlabelled: int = 50_000,
        neighbours: int = 10,
        spread: float = 0.9,
    ) -> None:
        self.threshold = threshold
        self.weight = weight
        self.unlabelled_ratio = unlabelled_ratio
        self.average_decay = average_decay
        self.min_steps = min_steps
        self.learning_rate = learning_rate
        self.n_unlabelled = n_unlabelled
        self.neighbours = neighbours
        self.spread = spread

    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        return lambda logits, rows: cross_entropy(logits, labels.gather(1, rows))

    def unlabelled_loss(self, taught: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        from torch.nn import functional

        confidence, pseudo_labels = taught.softmax(dim=1).max(dim=1)
        losses = functional.cross_entropy(logits, pseudo_labels, reduction="none")
        return self.weight * (losses * (confidence >= self.threshold)).mean()

    def optimiser(self, weights: Weights, settings: Sequence[OptimiserSettings]) -> torch.optim.Optimizer:
        return sgd(
            weights, [replace(own, learning_rate=min(own.learning_rate, self.learning_rate)) for own in settings]
        )
