"""Members with different numbers of points, trained as one: each goes through its own epochs at its own pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import torch
from torch.nn import functional

from labelsieve.fitting.graphs import RepeatedStep
from labelsieve.fitting.loop import batches, cosine_share

NOBODY = -1
"""In place of a row, where a member has fewer points in a batch than others."""
_STEPS_PREPARED = 64
"""Batches are brought to the device for so many steps at once."""


def descend_at_own_pace(
    take_gradients: Callable[[torch.Tensor], None],
    optimiser: torch.optim.Optimizer,
    n_points: Sequence[int],
    *,
    epochs: int,
    batch_size: int,
    cosine_period: int,
    seeds: Sequence[int],
    device: torch.device,
) -> Iterator[None]:
    """As ``descend``, for members with so many points each; rows (m, b) may be ``NOBODY``.

    The optimiser has groups of single members (``parameter_groups(..., apart=True)``). Members with few points are done
    first; their weights are kept as they are then, whatever happens to them while others go on.
    """
    of_group = [group["members"].start for group in optimiser.param_groups]
    first_rates = torch.tensor([float(group["lr"]) for group in optimiser.param_groups], device=device)
    rates = first_rates.clone()
    for group, rate in zip(optimiser.param_groups, rates.unbind(), strict=True):
        group["lr"] = rate  # a part of the one tensor that is written to at every step
    move = RepeatedStep(
        lambda rows: optimiser.step(lambda: take_gradients(rows)),  # type: ignore[arg-type, return-value]
        recordable=device.type == "cuda",
    )
    walks = [_Walk(n, epochs, batch_size, cosine_period, seed) for n, seed in zip(n_points, seeds, strict=True)]
    kept: dict[int, list[torch.Tensor]] = {}
    for number, (rows, now) in enumerate(_steps(walks, first_rates, of_group), start=1):
        rates.copy_(now)
        move(rows)
        yield
        for position, group in enumerate(optimiser.param_groups):
            if walks[of_group[position]].length == number:
                kept[position] = [weight.clone() for weight in group["params"]]
    for position, group in enumerate(optimiser.param_groups):
        torch._foreach_copy_(group["params"], kept[position])


class _Walk:
    """The batches of one member, epoch after epoch, shuffled as ``descend`` shuffles them."""

    def __init__(self, n: int, epochs: int, batch_size: int, cosine_period: int, seed: int) -> None:
        self._n, self._epochs, self._size, self._period, self._seed = n, epochs, batch_size, cosine_period, seed
        sizes = [len(part) for part in batches(torch.empty(n), batch_size, dim=0)]
        self.length, self.width = epochs * len(sizes), max(sizes)

    def steps(self, width: int) -> Iterator[tuple[torch.Tensor, float]]:
        """Rows, so many with ``NOBODY``, and the share of the first learning rate; the last ones for ever."""
        shuffle = torch.Generator().manual_seed(self._seed)
        for epoch in range(self._epochs):
            share = cosine_share(epoch, self._period)
            for part in batches(torch.randperm(self._n, generator=shuffle), self._size, dim=0):
                rows = functional.pad(part, (0, width - len(part)), value=NOBODY)
                yield rows, share
        while True:
            yield rows, share


def _steps(
    walks: Sequence[_Walk], first_rates: torch.Tensor, of_group: Sequence[int]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Rows (m, b) of all members and the learning rate of each group, until the longest walk is at its end."""
    width, device = max(walk.width for walk in walks), first_rates.device
    steps = islice(zip(*(walk.steps(width) for walk in walks), strict=True), max(walk.length for walk in walks))
    while prepared := list(islice(steps, _STEPS_PREPARED)):
        rows = torch.stack([torch.stack([rows for rows, _ in members]) for members in prepared])
        shares = torch.tensor([[share for _, share in members] for members in prepared])
        yield from zip(rows.to(device), shares.to(device)[:, of_group] * first_rates, strict=True)
