"""Members with different numbers of points, trained as one: each goes through its own epochs at its own pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

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
        sizes = [len(part) for part in batches(torch.empty(n), batch_size, dim=0)]
        self._n, self._sizes, self._epochs, self._period, self._rate = n, sizes, epochs, cosine_period, rate
        self._shuffle = torch.Generator().manual_seed(seed)
        self._epoch = 0
        self.length, self.width = epochs * len(sizes), max(sizes)

    def epoch(self, width: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The next one: rows (batches, width), ``NOBODY`` among them, and the learning rate at each. After the last, it
        goes round once more."""
        order = torch.randperm(self._n, generator=self._shuffle)
        rows = pad_sequence(list(torch.split(order, self._sizes)), batch_first=True, padding_value=NOBODY)
        rate = self._rate * cosine_share(min(self._epoch, self._epochs - 1), self._period)
        self._epoch += 1
        widened = functional.pad(rows, (0, width - rows.shape[1]), value=NOBODY)
        return widened, torch.full((len(rows),), rate, dtype=torch.float64)


def _steps(walks: Sequence[_Walk], device: torch.device) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Rows (m, b) of all members and what scales the step, until the longest walk is at its end."""
    width, longest = max(walk.width for walk in walks), max(walk.length for walk in walks)
    nothing = torch.empty((0, width), dtype=torch.int64), torch.empty(0, dtype=torch.float64)
    ahead = [nothing] * len(walks)
    for done in range(0, longest, _STEPS_PREPARED):
        n = min(_STEPS_PREPARED, longest - done)
        for member, walk in enumerate(walks):
            while len(ahead[member][0]) < n:
                more_rows, more_rates = walk.epoch(width)
                ahead[member] = torch.cat([ahead[member][0], more_rows]), torch.cat([ahead[member][1], more_rates])
        rows, rates = (torch.stack([own[part][:n] for own in ahead], dim=1).to(device) for part in (0, 1))
        ahead = [(own_rows[n:], own_rates[n:]) for own_rows, own_rates in ahead]
        numbers = torch.arange(done + 1, done + n + 1, dtype=torch.float64, device=device)
        yield from zip(rows, StackedAdam.scales_at(numbers, rates), strict=True)
