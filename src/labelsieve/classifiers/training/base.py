"""What every train-time method shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from sklearn.base import BaseEstimator

BatchLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""(logits of a batch, rows of that batch in the training set) -> loss."""


@dataclass(frozen=True)
class OptimiserSettings:
    """What the classifier asks of the optimiser."""

    learning_rate: float
    momentum: float
    weight_decay: float


class TrainTimeMethod(ABC, BaseEstimator):  # type: ignore[misc]
    """How a network learns from its labels: a loss and an optimiser.

    To add one: a file here with a subclass that implements ``loss`` and ``optimiser``; a line in ``registry.py``,
    which also puts it through ``tests/contracts``; a row in ``docs/methods.md``. State that belongs to one fit
    (a history per point, say) lives in the closure that ``loss`` returns, never on the method.
    """

    averages_from: float | None = None
    """Share of the epochs after which the weights are averaged over epochs; None to keep the last ones."""

    @abstractmethod
    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        """The loss of one fit on training points with these labels."""

    @abstractmethod
    def optimiser(self, parameters: Iterable[torch.nn.Parameter], settings: OptimiserSettings) -> torch.optim.Optimizer:
        """The optimiser of one fit; its ``step`` gets a closure."""


def sgd(parameters: Iterable[torch.nn.Parameter], settings: OptimiserSettings) -> torch.optim.Optimizer:
    """Stochastic gradient descent with momentum and weight decay."""
    return torch.optim.SGD(
        parameters,
        lr=settings.learning_rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
    )
