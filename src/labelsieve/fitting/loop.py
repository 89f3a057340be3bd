"""The training loop: shuffled mini-batches, a cosine schedule, any objective and optimiser."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

Objective = Callable[[torch.Tensor], torch.Tensor]
"""Loss of the points at these rows, ready for ``backward``."""


def minimise(
    objective: Objective,
    optimiser: torch.optim.Optimizer,
    n_points: int,
    *,
    epochs: int,
    batch_size: int | None,
    cosine_period: int,
    generator: torch.Generator,
    device: torch.device,
    after_epoch: Callable[[int], bool],
) -> None:
    """Take ``epochs`` passes over shuffled batches (one full batch for None).

    The learning rate falls as half a cosine over ``cosine_period`` epochs. The optimiser is given a closure, so
    that one which looks twice at a batch needs no loop of its own. ``after_epoch`` is told how many epochs are done
    and returns True to go on.
    """
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda epoch: 0.5 * (1 + math.cos(math.pi * epoch / cosine_period))
    )
    for epoch in range(epochs):
        # Shuffled on the CPU, so that every device sees the batches in the same order.
        order = torch.randperm(n_points, generator=generator).to(device)
        for rows in torch.split(order, batch_size or n_points):

            def closure(rows: torch.Tensor = rows) -> torch.Tensor:
                optimiser.zero_grad(set_to_none=True)
                loss = objective(rows)
                loss.backward()  # type: ignore[no-untyped-call]
                return loss

            optimiser.step(closure)  # type: ignore[arg-type]
        schedule.step()
        if not after_epoch(epoch + 1):
            break


def repeatable() -> AbstractContextManager[None]:
    """Inside, a GPU gives the same result for the same input every time, and in full single precision."""
    return torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)


def resolve_device(name: str) -> torch.device:
    """``"auto"`` takes the GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
