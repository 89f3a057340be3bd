"""What every train-time method shares. Some work without gradients, so torch waits until it is used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    import torch

    from labelsieve.fitting.members import OptimiserSettings

BatchLoss = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
"""(logits (m, b, k) of a batch of each member, its rows (m, b) in the member's training set) -> losses (m,)."""

Weights = Sequence["torch.Tensor"]
"""Each (m, ...): one weight of all members."""


class TrainTimeMethod(ABC, BaseEstimator):  # type: ignore[misc]
    """How networks learn from their labels: a loss and an optimiser, for m members at once.

    To add one: a file here with a subclass that implements ``loss`` and ``optimiser``; a line in ``registry.py``,
    which also puts it through ``tests/contracts``; a row in ``docs/methods.md``; ``recordable = True`` if it is. State
    that belongs to one fit (a history per point, say) lives in the closure that ``loss`` returns, never on the method.
    Members may differ in the parameters named in ``per_member``, which are then tensors (m,); all others they have in
    common.
    """

    per_member: ClassVar[tuple[str, ...]] = ()

    recordable: ClassVar[bool] = False
    """Whether each step does the same operations on tensors that stay in place and never waits for the GPU, which may
    then record one and replay it: a number that Python changes from step to step would stay what it was."""

    wants_unlabelled: ClassVar[bool] = False
    """Whether it also learns from points without labels; see ``LearnsFromUnlabelled``."""

    averages_from: float | None = None
    """Share of the epochs after which the weights are averaged over epochs; None to keep the last ones."""

    @abstractmethod
    def loss(self, labels: torch.Tensor, n_classes: int) -> BatchLoss:
        """The losses of one fit on training points with these labels (m, n)."""

    @abstractmethod
    def optimiser(self, weights: Weights, settings: Sequence[OptimiserSettings]) -> torch.optim.Optimizer:
        """The optimiser of one fit, over ``parameter_groups(weights, settings)``. Its ``step`` gets a closure that
        leaves the gradients with these."""


class LearnsFromUnlabelled(TrainTimeMethod):
    """A train-time method for one network, taught on points without labels by a slow average of itself.

    The engine draws those points (``engine/loop.py``); they come without labels, and none are known here.
    """

    wants_unlabelled: ClassVar[bool] = True

    n_unlabelled: int
    """How many points without labels to draw at most."""
    unlabelled_ratio: int
    """How many of them to look at for each labelled point of a batch."""
    average_decay: float
    """How much of the average stays at each step."""
    min_steps: int
    """Fewest steps of a training: few labels make few batches, and there is more to learn than they show."""

    @abstractmethod
    def unlabelled_loss(self, taught: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        """The loss of the network's logits (b, k) of points under strong augmentation, given the logits of the average
        for the same points under weak augmentation."""


def sgd(weights: Weights, settings: Sequence[OptimiserSettings]) -> torch.optim.Optimizer:
    """Stochastic gradient descent with momentum and weight decay."""
    import torch

    from labelsieve.fitting.members import parameter_groups

    return torch.optim.SGD(parameter_groups(weights, settings), fused=True)


def cross_entropy(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean over the points (m, b) of each member."""
    from torch.nn import functional

    losses = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return losses.view(labels.shape).mean(dim=1)
