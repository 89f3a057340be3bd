"""Weights of many members, trained as one tensor program: a weight of all m members is one tensor (m, ...)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, vmap


@dataclass(frozen=True, order=True)
class OptimiserSettings:
    """What one member asks of the optimiser."""

    learning_rate: float
    weight_decay: float
    momentum: float = 0.0
    nesterov: bool = False


def neighbours_first(settings: Sequence[OptimiserSettings], *parts: Sequence[Any]) -> list[list[Any]]:
    """Settings and whatever else belongs to the members, reordered: those with the same settings side by side."""
    order = sorted(range(len(settings)), key=settings.__getitem__)
    return [[part[i] for i in order] for part in (settings, *parts)]


def parameter_groups(
    weights: Sequence[torch.Tensor], settings: Sequence[OptimiserSettings], position: int = 0
) -> list[dict[str, Any]]:
    """Groups for an optimiser, one for each run of neighbours with the same settings.

    Optimisers know one learning rate per parameter, not one per member, so a parameter is the part of a weight that
    belongs to such neighbours. ``position`` is that of the first of these weights among all that are trained.
    """
    groups, start = [], 0
    for wanted, neighbours in groupby(settings):
        end = start + len(list(neighbours))
        group = {
            "params": [weight.detach()[start:end] for weight in weights],
            "lr": wanted.learning_rate,
            "weight_decay": wanted.weight_decay,
            "members": slice(start, end),
            "position": position,
        }
        if wanted.momentum:  # optimisers other than SGD know nothing of it
            group |= {"momentum": wanted.momentum, "nesterov": wanted.nesterov}
        groups.append(group)
        start = end
    return groups


def set_gradients(optimiser: torch.optim.Optimizer, gradients: Sequence[torch.Tensor | None]) -> None:
    """Give each parameter of the optimiser its part of the gradients, which come in the order of the weights."""
    for group in optimiser.param_groups:
        for position, parameter in enumerate(group["params"], start=group["position"]):
            gradient = gradients[position]
            parameter.grad = None if gradient is None else lying_as(parameter, gradient[group["members"]])


def lying_as(weight: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """The gradient, in memory as the weight is: fused optimisers go through the two in parallel and do not check."""
    return gradient if gradient.stride() == weight.stride() else torch.empty_like(weight).copy_(gradient)


def recordable_rates(optimiser: torch.optim.Optimizer, device: torch.device) -> None:
    """Learning rates as tensors: what a GPU has recorded reads the rate of today and not that of the recording."""
    for group in optimiser.param_groups:
        group["lr"] = torch.tensor(float(group["lr"]), device=device)


def stacked(tensors: Sequence[torch.Tensor], device: torch.device) -> torch.Tensor:
    """A weight of all members, ready for gradients.

    Matrices lie in memory as their gradients come, for many the other way round: that saves copying at every step.
    """
    together = torch.stack([tensor.detach() for tensor in tensors]).to(device)
    if together.ndim == 3 and len(together) > 1:
        together = together.transpose(1, 2).contiguous().transpose(1, 2)
    return together.requires_grad_()


class StackedModules:
    """Modules of one architecture, called on points (m, b, ...) as one."""

    def __init__(self, modules: Sequence[nn.Module], device: torch.device) -> None:
        self._names = [name for name, _ in modules[0].named_parameters()]
        of_each_name = zip(*(module.parameters() for module in modules), strict=True)
        self.weights = [stacked(same, device) for same in of_each_name]
        self._skeleton = modules[0]
        self._alone = len(modules) == 1

    def __call__(self, points: torch.Tensor) -> Any:
        if self._alone:  # plain products of matrices are faster than stacks of one
            alone = self._call([weight.squeeze(0) for weight in self.weights], points.squeeze(0))
            return alone[None] if isinstance(alone, torch.Tensor) else tuple(part[None] for part in alone)
        return vmap(self._call)(self.weights, points)

    def _call(self, weights: list[torch.Tensor], points: torch.Tensor) -> Any:
        return functional_call(self._skeleton, dict(zip(self._names, weights, strict=True)), (points,))

    @torch.no_grad()
    def write_back(self, modules: Sequence[nn.Module]) -> None:
        """Put each member's weights into its own module."""
        for number, module in enumerate(modules):
            for own, of_all in zip(module.parameters(), self.weights, strict=True):
                own.copy_(of_all[number])
