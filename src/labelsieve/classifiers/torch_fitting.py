"""Training networks: one, or many of one architecture as a single tensor program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from sklearn.base import clone
from torch import nn
from torch.optim.swa_utils import update_bn

from labelsieve.classifiers.training.base import TrainTimeMethod, Weights
from labelsieve.errors import ConfigurationError
from labelsieve.fitting.devices import kernels, own_randomness
from labelsieve.fitting.loop import batches, minimise
from labelsieve.fitting.members import OptimiserSettings, StackedModules, recordable_rates, set_gradients


@dataclass(frozen=True)
class Recipe:
    """What the members of one fit have in common."""

    epochs: int
    batch_size: int
    cosine_period: int
    precision: str
    device: torch.device
    repeats_exactly: bool


def train(
    modules: Sequence[nn.Module],
    points: torch.Tensor,
    labels: torch.Tensor,
    n_classes: int,
    methods: Sequence[TrainTimeMethod],
    settings: Sequence[OptimiserSettings],
    seeds: Sequence[int],
    recipe: Recipe,
    progress: Callable[[float], None],
) -> None:
    """Train each module on its own points (m, n, ...) and labels (m, n), in place."""
    method = together(methods, recipe.device)
    # bf16 runs on units that want the channels of a pixel side by side.
    channels_last = recipe.precision == "bf16" and recipe.device.type == "cuda" and points.ndim == 5
    member = _Lone(modules[0], channels_last) if len(modules) == 1 else _Stack(modules, recipe.device)
    loss = method.loss(labels, n_classes)
    average = _WeightAverage(member.weights, method.averages_from, recipe.epochs)
    optimiser = method.optimiser(member.weights, settings)
    recordable = recipe.repeats_exactly and recipe.device.type == "cuda"
    if recordable:
        recordable_rates(optimiser, recipe.device)
    which = torch.arange(len(points), device=recipe.device)[:, None]

    def gradients(rows: torch.Tensor) -> None:
        losses = loss(member.logits(points[which, rows]).float(), rows)
        set_gradients(optimiser, member.gradients(losses))

    def after_epoch(done: int) -> bool:
        average.after_epoch(done)
        progress(done / recipe.epochs)
        return True

    for module in modules:
        module.train()
    with own_randomness(seeds[0], recipe.device), kernels(recipe.precision, recipe.device):
        minimise(
            gradients,
            optimiser,
            points.shape[1],
            epochs=recipe.epochs,
            batch_size=recipe.batch_size,
            cosine_period=recipe.cosine_period,
            seeds=seeds,
            device=recipe.device,
            after_epoch=after_epoch,
            repeats_exactly=recipe.repeats_exactly,
        )
        average.apply()
        member.finish(modules)
        if method.averages_from is not None and len(modules) == 1:
            # Batch statistics, where a module keeps them, are counted anew for averaged weights.
            update_bn(batches(points[0], recipe.batch_size, dim=0), modules[0])
    for module in modules:
        module.eval()


def together(methods: Sequence[TrainTimeMethod], device: torch.device) -> TrainTimeMethod:
    """One method for all members, its parameters that differ as tensors (m,)."""
    first = methods[0]
    if len(methods) == 1:
        return first
    differing = {
        name: torch.tensor([getattr(method, name) for method in methods], device=device) for name in first.per_member
    }
    combined: TrainTimeMethod = clone(first)
    for name, values in differing.items():
        setattr(combined, name, values)
    return combined


def logits_and_features(module: nn.Module, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What a network must return."""
    result = module(points)
    if not (isinstance(result, tuple) and len(result) == 2):
        raise ConfigurationError(
            "A network's forward must return two tensors, logits (n, k) and the layer before them (n, d); "
            f"got {type(result).__name__}."
        )
    return result


class _Lone:
    """A single module, whatever it does in its forward, seen as a stack of one."""

    def __init__(self, module: nn.Module, channels_last: bool) -> None:
        self._module = module
        self._format = torch.channels_last if channels_last else torch.contiguous_format
        if channels_last:
            module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._own = [weight for weight in module.parameters() if weight.requires_grad]
        self.weights: Weights = [weight.detach()[None] for weight in self._own]

    def logits(self, points: torch.Tensor) -> torch.Tensor:
        return logits_and_features(self._module, points[0].contiguous(memory_format=self._format))[0][None]

    def gradients(self, losses: torch.Tensor) -> list[torch.Tensor | None]:
        found = torch.autograd.grad(losses.sum(), self._own, allow_unused=True)
        return [None if gradient is None else gradient[None] for gradient in found]

    def finish(self, modules: Sequence[nn.Module]) -> None:
        """The optimiser has worked on the module's own weights."""


class _Stack:
    """Modules of one architecture with stacked weights."""

    def __init__(self, modules: Sequence[nn.Module], device: torch.device) -> None:
        self._stacked = StackedModules(modules, device)
        self.weights: Weights = self._stacked.weights

    def logits(self, points: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self._stacked(points)[0]
        return logits

    def gradients(self, losses: torch.Tensor) -> list[torch.Tensor | None]:
        return list(torch.autograd.grad(losses.sum(), list(self.weights)))

    def finish(self, modules: Sequence[nn.Module]) -> None:
        self._stacked.write_back(modules)


class _WeightAverage:
    """The mean of the weights at the ends of the last epochs, if a train-time method wants it."""

    def __init__(self, weights: Weights, start: float | None, epochs: int) -> None:
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
