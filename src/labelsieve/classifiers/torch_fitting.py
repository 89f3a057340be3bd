"""Training networks: one, or many of one architecture, as a single tensor program or side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from sklearn.base import clone
from torch import nn
from torch.optim.swa_utils import update_bn

from labelsieve.classifiers.augmentation import moderate, strong, weak
from labelsieve.classifiers.stacked_cnn import StackedCNN
from labelsieve.classifiers.training.base import LearnsFromUnlabelled, TrainTimeMethod, Weights
from labelsieve.errors import ConfigurationError
from labelsieve.fitting.averages import EpochAverage, MovingAverage
from labelsieve.fitting.devices import kernels, own_randomness
from labelsieve.fitting.loop import batches, descend
from labelsieve.fitting.members import OptimiserSettings, StackedModules, recordable_rates, set_gradients
from labelsieve.fitting.turns import take_turns


@dataclass(frozen=True)
class Recipe:
    """What the members of one fit have in common. ``augment`` and ``average_decay`` are for a member trained alone.
    ``takes_turns``: members are trained side by side, each with weights of its own, and not stacked.
    ``stacks_convolutions``: they are ``SimpleCNN``s whose convolutions can be one. ``channels_last``: images lie as
    units for bf16 want them, the channels of a pixel side by side."""

    epochs: int
    batch_size: int
    cosine_period: int
    precision: str
    device: torch.device
    repeats_exactly: bool
    takes_turns: bool = False
    stacks_convolutions: bool = False
    channels_last: bool = False
    augment: bool = False
    average_decay: float | None = None
    min_steps: int = 0

    def lasting(self, n_points: int, min_steps: int) -> Recipe:
        """The same, stretched to so many steps where there are too few points for them."""
        steps = self.epochs * len(batches(torch.empty(n_points), self.batch_size, dim=0))
        stretch = max(1.0, min_steps / steps)
        return replace(
            self, epochs=math.ceil(stretch * self.epochs), cosine_period=math.ceil(stretch * self.cosine_period)
        )


DrawUnlabelled = Callable[[int], torch.Tensor]
"""So many points nobody has labelled, drawn at random, as the network takes them."""


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
    draw_unlabelled: DrawUnlabelled | None = None,
) -> None:
    """Train each module on its own points (m, n, ...) and labels (m, n), in place; one that is alone also on points
    without labels."""
    parts = [slice(number, number + 1) for number in range(len(modules))] if recipe.takes_turns else [slice(None)]
    descents = [
        _descent(
            modules[part],
            points[part],
            labels[part],
            n_classes,
            together(methods[part], recipe.device),
            settings[part],
            seeds[part],
            recipe,
            progress,
            draw_unlabelled,
        )
        for part in parts
    ]
    for module in modules:
        module.train()
    with own_randomness(seeds[0], recipe.device), kernels(recipe.precision, recipe.device):
        take_turns(descents, recipe.device)
    for module in modules:
        module.eval()


def _descent(
    modules: Sequence[nn.Module],
    points: torch.Tensor,
    labels: torch.Tensor,
    n_classes: int,
    method: TrainTimeMethod,
    settings: Sequence[OptimiserSettings],
    seeds: Sequence[int],
    recipe: Recipe,
    progress: Callable[[float], None],
    draw_unlabelled: DrawUnlabelled | None,
) -> Iterator[None]:
    """The training of one module, or of several as one; yields after every step."""
    semi_supervised = method if draw_unlabelled and isinstance(method, LearnsFromUnlabelled) else None
    if semi_supervised is not None:
        recipe = replace(recipe, average_decay=semi_supervised.average_decay)
        recipe = recipe.lasting(points.shape[1], semi_supervised.min_steps)
    recipe = recipe.lasting(points.shape[1], recipe.min_steps)
    member = _Lone(modules[0], recipe.channels_last) if len(modules) == 1 else _Stack(modules, recipe)
    loss = method.loss(labels, n_classes)
    # A method that averages in its own way needs no other average.
    decay = recipe.average_decay if method.averages_from is None else None
    following = None if decay is None else MovingAverage(modules[0], decay)
    average = EpochAverage(member.weights, method.averages_from, recipe.epochs)
    optimiser = method.optimiser(member.weights, settings)
    recordable = recipe.repeats_exactly and recipe.device.type == "cuda"
    if recordable:
        recordable_rates(optimiser, recipe.device)
    which = torch.arange(len(points), device=recipe.device)[:, None]

    def losses(rows: torch.Tensor) -> torch.Tensor:
        batch = points[which, rows]
        if semi_supervised is None:
            if recipe.augment:
                batch = moderate(batch[0])[None]
            return loss(member.logits(batch).float(), rows)
        assert draw_unlabelled is not None
        assert following is not None
        unlabelled = draw_unlabelled(semi_supervised.unlabelled_ratio * rows.shape[1])
        batch = weak(batch[0])[None]
        with torch.no_grad():
            taught = logits_and_features(following.module, weak(unlabelled))[0].float()
        # Labelled and unlabelled points in one pass, so that batch statistics are those of all.
        logits = member.logits(torch.cat([batch, strong(unlabelled)[None]], dim=1)).float()
        n = rows.shape[1]
        return loss(logits[:, :n], rows) + semi_supervised.unlabelled_loss(taught, logits[0, n:])

    def gradients(rows: torch.Tensor) -> None:
        set_gradients(optimiser, member.gradients(losses(rows)))

    def after_epoch(done: int) -> bool:
        average.after_epoch(done)
        progress(done / recipe.epochs)
        return True

    yield from descend(
        gradients,
        optimiser,
        points.shape[1],
        epochs=recipe.epochs,
        batch_size=recipe.batch_size,
        cosine_period=recipe.cosine_period,
        seeds=seeds,
        device=recipe.device,
        after_epoch=after_epoch,
        after_step=None if following is None else following.follow,
        repeats_exactly=recipe.repeats_exactly,
    )
    average.apply()
    if following is not None:
        following.apply()
    member.finish(modules)
    if method.averages_from is not None and len(modules) == 1:
        # Batch statistics, where a module keeps them, are counted anew for averaged weights.
        update_bn(batches(points[0], recipe.batch_size, dim=0), modules[0])


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

    def __init__(self, modules: Sequence[nn.Module], recipe: Recipe) -> None:
        self._stacked = (StackedCNN if recipe.stacks_convolutions else StackedModules)(modules, recipe.device)
        self.weights: Weights = self._stacked.weights

    def logits(self, points: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self._stacked(points)[0]
        return logits

    def gradients(self, losses: torch.Tensor) -> list[torch.Tensor | None]:
        return list(torch.autograd.grad(losses.sum(), list(self.weights)))

    def finish(self, modules: Sequence[nn.Module]) -> None:
        self._stacked.write_back(modules)
