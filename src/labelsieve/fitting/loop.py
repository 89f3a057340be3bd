"""The training loop: shuffled mini-batches, a cosine schedule, any objective and optimiser."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import torch

from labelsieve.errors import ConfigurationError

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
        for rows in batches(order, batch_size or n_points):

            def closure(rows: torch.Tensor = rows) -> torch.Tensor:
                optimiser.zero_grad(set_to_none=True)
                loss = objective(rows)
                loss.backward()  # type: ignore[no-untyped-call]
                return loss

            optimiser.step(closure)  # type: ignore[arg-type]
        schedule.step()
        if not after_epoch(epoch + 1):
            break


def batches(order: torch.Tensor, size: int) -> list[torch.Tensor]:
    """Batches of this size; a last one of a single point, which batch norm cannot take, joins the one before."""
    parts = list(torch.split(order, size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return parts


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, what draws from torch's global generators (first weights, dropout) starts from this seed.

    Afterwards they are as they were: nothing is seeded globally.
    """
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            torch.cuda.manual_seed(seed)
        yield


def repeatable_kernels() -> AbstractContextManager[None]:
    """Inside, a GPU gives the same result for the same input every time, and in full single precision."""
    return torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)


def resolve_device(name: str) -> torch.device:
    """``"auto"`` takes the GPU if there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigurationError(f"device must be 'auto', 'cpu' or 'cuda'; got {name!r}.") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigurationError(f"device is {name!r}, but torch sees no GPU here. Use 'auto' or 'cpu'.")
    return device
