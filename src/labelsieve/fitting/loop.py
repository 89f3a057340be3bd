"""The training loop: shuffled mini-batches, a cosine schedule, any objective and optimiser, one member or many."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch

from labelsieve.fitting.graphs import RepeatedStep


def descend(
    take_gradients: Callable[[torch.Tensor], None],
    optimiser: torch.optim.Optimizer,
    n_points: int,
    *,
    epochs: int,
    batch_size: int | None,
    cosine_period: int,
    seeds: Sequence[int],
    device: torch.device,
    after_epoch: Callable[[int], bool],
    after_step: Callable[[], None] | None = None,
    repeats_exactly: bool = False,
) -> Iterator[None]:
    """Take ``epochs`` passes over shuffled batches (one full batch for None), one shuffle of its own per member. Yields
    after every step; ``take_turns`` goes all the way.

    ``take_gradients`` gets rows (m, b) and leaves the gradients of all members' losses where the optimiser finds them.
    The learning rate falls as half a cosine over ``cosine_period`` epochs. The optimiser is given a closure, so that
    one which looks twice at a batch needs no loop of its own. ``after_epoch`` is told how many epochs are done and
    returns True to go on; ``after_step`` is called whenever the weights have moved. ``repeats_exactly``: each step does
    the same operations on tensors that stay in place, so that a GPU may record one and replay it.
    """
    # By hand, since torch's schedulers and their optimiser keep each other, and the GPU's memory, alive.
    first_rates = [float(group["lr"]) for group in optimiser.param_groups]
    move = RepeatedStep(
        lambda rows: optimiser.step(lambda: take_gradients(rows)),  # type: ignore[arg-type, return-value]
        recordable=repeats_exactly and device.type == "cuda",
    )

    def step(rows: torch.Tensor) -> None:
        move(rows)
        if after_step is not None:
            after_step()

    shuffles = [torch.Generator().manual_seed(seed) for seed in seeds]
    everything = torch.arange(n_points).repeat(len(seeds), 1).to(device)
    for epoch in range(epochs):
        _set_rates(optimiser, first_rates, cosine_share(epoch, cosine_period))
        if batch_size is None:
            step(everything)
            yield
        else:
            # Shuffled on the CPU, so that every device sees the batches in the same order.
            order = torch.stack([torch.randperm(n_points, generator=shuffle) for shuffle in shuffles]).to(device)
            for rows in batches(order, batch_size):
                step(rows)
                yield
        if not after_epoch(epoch + 1):
            break


def cosine_share(epoch: int, period: int) -> float:
    """What is left of the learning rate after so many epochs: half a cosine over the period."""
    return 0.5 * (1 + math.cos(math.pi * epoch / period))


def _set_rates(optimiser: torch.optim.Optimizer, first: Sequence[float], share: float) -> None:
    for group, rate in zip(optimiser.param_groups, first, strict=True):
        if isinstance(group["lr"], torch.Tensor):
            group["lr"].fill_(rate * share)
        else:
            group["lr"] = rate * share


def batches(order: torch.Tensor, size: int, dim: int = 1) -> list[torch.Tensor]:
    """Batches of this size; a last one of a single point, which batch norm cannot take, joins the one before."""
    parts = list(torch.split(order, size, dim=dim))
    if len(parts) > 1 and parts[-1].shape[dim] == 1:
        parts[-2:] = [torch.cat(parts[-2:], dim=dim)]
    return parts
