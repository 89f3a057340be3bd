"""Weights of many members, trained as one tensor program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import torch
from torch import nn
from torch.func import functional_call, vmap
from torch.nn.utils import parameters_to_vector, vector_to_parameters


@dataclass(frozen=True)
class OptimiserSettings:
    """What one member asks of the optimiser."""

    learning_rate: float
    weight_decay: float
    momentum: float = 0.0


class Rows:
    """One row of weights per member: ``values`` (m, p) for computing, ``rows`` for an optimiser to work on.

    Optimisers know one learning rate per parameter, not one per row, so each row is a parameter of its own; the two
    share their memory.
    """

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values.detach().clone().requires_grad_()
        self.rows = list(self.values.detach().unbind(0))

    def set_gradient(self, gradient: torch.Tensor) -> None:
        """Give each row its part of the gradient of ``values``."""
        for row, part in zip(self.rows, gradient.unbind(0), strict=True):
            row.grad = part


def take_gradients(losses: torch.Tensor, weights: Sequence[Rows]) -> None:
    """Of each member's loss (m,) by its own rows: the members' sum has just these."""
    gradients = torch.autograd.grad(losses.sum(), [rows.values for rows in weights])
    for rows, gradient in zip(weights, gradients, strict=True):
        rows.set_gradient(gradient)


def parameter_groups(
    members: Iterable[Iterable[torch.Tensor]], settings: Iterable[OptimiserSettings]
) -> list[dict[str, Any]]:
    """Members with the same settings share a group, since an optimiser's cost grows with the number of groups."""
    groups: dict[tuple[float, ...], dict[str, Any]] = {}
    for tensors, wanted in zip(members, settings, strict=True):
        group = groups.setdefault(astuple(wanted), {"params": [], "lr": wanted.learning_rate} | _decay(wanted))
        group["params"].extend(tensors)
    return list(groups.values())


def _decay(settings: OptimiserSettings) -> dict[str, float]:
    momentum = {"momentum": settings.momentum} if settings.momentum else {}
    return {"weight_decay": settings.weight_decay} | momentum


def recordable_rates(optimiser: torch.optim.Optimizer, device: torch.device) -> None:
    """Learning rates as tensors: what a GPU has recorded reads the rate of today and not that of the recording."""
    for group in optimiser.param_groups:
        group["lr"] = torch.tensor(float(group["lr"]), device=device)


class StackedModules:
    """Modules of one architecture, called on points (m, b, ...) as one."""

    def __init__(self, modules: Sequence[nn.Module], device: torch.device) -> None:
        self._names_and_shapes = [(name, weight.shape) for name, weight in modules[0].named_parameters()]
        self._sizes = [shape.numel() for _, shape in self._names_and_shapes]
        self.weights = Rows(torch.stack([parameters_to_vector(m.parameters()) for m in modules]).to(device))
        skeleton = modules[0]

        def one(weights: dict[str, torch.Tensor], points: torch.Tensor) -> Any:
            return functional_call(skeleton, weights, (points,))

        self._all = vmap(one)

    def __call__(self, points: torch.Tensor) -> Any:
        parts = torch.split(self.weights.values, self._sizes, dim=1)
        weights = {
            name: part.view(len(part), *shape)
            for (name, shape), part in zip(self._names_and_shapes, parts, strict=True)
        }
        return self._all(weights, points)

    def write_back(self, modules: Sequence[nn.Module]) -> None:
        """Put each member's weights into its own module."""
        for module, row in zip(modules, self.weights.rows, strict=True):
            vector_to_parameters(row.clone(), module.parameters())
