"""Members with different numbers of points, trained as one: each goes through its own epochs at its own pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import torch
from torch.nn import functional

from labelsieve.fitting.graphs import RepeatedStep
from labelsieve.fitting.loop import batches, cosine_share
from labelsieve.fitting.members import OptimiserSettings
from labelsieve.fitting.stacked_adam import StackedAdam

NOBODY = -1
"""In place of a row, where a member has fewer points in a batch than others."""
_STEPS_PREPARED = 64
"""Batches are brought to the device for so many steps at once."""


def descend_at_own_pace(
    gradients: Callable[[torch.Tensor], Sequence[torch.Tensor]],
    weights: Sequence[torch.Tensor],
    settings: Sequence[Sequence[OptimiserSettings]],
    n_points: Sequence[int],
    *,
    epochs: int,
    batch_size: int,
    cosine_period: int,
    seeds: Sequence[int],
    device: torch.device,
) -> Iterator[None]:
    """As ``descend`` with Adam, for members with so many points each. ``gradients`` of the weights (m, ...) come from
    rows (m, b), some of which may be ``NOBODY``; ``settings`` are those of each member for each weight, and learning
    rates are the same for all weights.

    Members with few points are done first; their weights are kept as they are then, whatever happens to them while
    others go on.
    """
    decays = [torch.tensor([own.weight_decay for own in of_weight], device=device) for of_weight in settings]
    optimiser = StackedAdam(weights, decays)
    move = RepeatedStep(lambda rows: optimiser.step(gradients(rows)), recordable=device.type == "cuda")
    walks = [
        _Walk(n, epochs, batch_size, cosine_period, seed, own.learning_rate)
        for n, seed, own in zip(n_points, seeds, settings[0], strict=True)
    ]
    kept: dict[int, list[torch.Tensor]] = {}
    for number, (rows, scales) in enumerate(_steps(walks, device), start=1):
        optimiser.scales.copy_(scales)
        move(rows)
        yield
        for member, walk in enumerate(walks):
            if walk.length == number:
                kept[member] = [weight[member].clone() for weight in optimiser.weights]
    for member, own in kept.items():
        torch._foreach_copy_([weight[member] for weight in optimiser.weights], own)


class _Walk:
    """The batches of one member, epoch after epoch, shuffled as ``descend`` shuffles them."""

    def __init__(self, n: int, epochs: int, batch_size: int, cosine_period: int, seed: int, rate: float) -> None:
        self._n, self._epochs, self._size, self._period = n, epochs, batch_size, cosine_period
        self._seed, self._rate = seed, rate
        sizes = [len(part) for part in batches(torch.empty(n), batch_size, dim=0)]
        self.length, self.width = epochs * len(sizes), max(sizes)

    def steps(self, width: int) -> Iterator[tuple[torch.Tensor, float]]:
        """So many rows, ``NOBODY`` among them, and the learning rate; the last ones for ever."""
        shuffle = torch.Generator().manual_seed(self._seed)
        for epoch in range(self._epochs):
            rate = self._rate * cosine_share(epoch, self._period)
            order = torch.randperm(self._n, generator=shuffle)
            for part in batches(order, self._size, dim=0):
                rows = functional.pad(part, (0, width - len(part)), value=NOBODY)
                yield rows, rate
        while True:
            yield rows, rate


def _steps(walks: Sequence[_Walk], device: torch.device) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Rows (m, b) of all members and what scales the step, until the longest walk is at its end."""
    width, done = max(walk.width for walk in walks), 0
    steps = islice(zip(*(walk.steps(width) for walk in walks), strict=True), max(walk.length for walk in walks))
    while prepared := list(islice(steps, _STEPS_PREPARED)):
        rows = torch.stack([rows for members in prepared for rows, _ in members]).view(len(prepared), len(walks), width)
        scales = torch.tensor(
            [
                StackedAdam.scales_at(number, [rate for _, rate in members])
                for number, members in enumerate(prepared, start=done + 1)
            ]
        )
        yield from zip(rows.to(device), scales.to(device), strict=True)
        done += len(prepared)
