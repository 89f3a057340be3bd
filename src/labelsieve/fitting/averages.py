"""Averages of weights over the steps or epochs of a training."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import nn


class EpochAverage:
    """The mean of the weights at the ends of the last epochs, if a train-time method wants it."""

    def __init__(self, weights: Sequence[torch.Tensor], start: float | None, epochs: int) -> None:
        self._weights = [weight.detach() for weight in weights]
        self._first = epochs + 1 if start is None else min(epochs, int(start * epochs) + 1)
        self._means: list[torch.Tensor] = []
        self._count = 0

    @torch.no_grad()
    def after_epoch(self, done: int) -> None:
        if done < self._first:
            return
        self._count += 1
        if not self._means:
            self._means = [weight.clone() for weight in self._weights]
        else:
            torch._foreach_lerp_(self._means, self._weights, 1 / self._count)

    @torch.no_grad()
    def apply(self) -> None:
        if self._means:
            torch._foreach_copy_(self._weights, self._means)


class MovingAverage:
    """A copy of a module that follows it slowly: its weights, and its batch statistics where it keeps some."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.module = copy.deepcopy(module).eval()
        self._followed, self._own = _numbers(module), _numbers(self.module)
        self._decay = decay
        self._steps = 0

    @torch.no_grad()
    def follow(self) -> None:
        self._steps += 1
        # Faster in the beginning, so that the random first weights are forgotten however few steps there are.
        decay = min(self._decay, self._steps / (self._steps + 9))
        torch._foreach_lerp_(self._own, self._followed, 1 - decay)

    @torch.no_grad()
    def apply(self) -> None:
        torch._foreach_copy_(self._followed, self._own)


def _numbers(module: nn.Module) -> list[torch.Tensor]:
    """All that a module has learned; counts of batches, which are whole numbers, are not averaged."""
    return [value for value in module.state_dict().values() if value.is_floating_point()]
