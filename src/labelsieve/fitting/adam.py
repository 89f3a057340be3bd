"""Going down by Adam: members with as many points each in step, others at their own pace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import torch

from labelsieve.fitting.loop import descend
from labelsieve.fitting.members import OptimiserSettings, parameter_groups, recordable_rates, set_gradients
from labelsieve.fitting.paces import descend_at_own_pace


def descend_by_adam(
    gradients: Callable[[torch.Tensor], Sequence[torch.Tensor]],
    weights: Sequence[torch.Tensor],
    settings: Sequence[Sequence[OptimiserSettings]],
    n_points: Sequence[int],
    *,
    epochs: int,
    batch_size: int | None,
    cosine_period: int,
    seeds: Sequence[int],
    device: torch.device,
    after_epoch: Callable[[int], bool] = lambda _done: True,
) -> Iterator[None]:
    """Take ``epochs`` passes over so many points of each member; yields after every step.

    ``gradients`` of the weights (m, ...) come from rows (m, b); ``settings`` are those of each member for each weight,
    with learning rates that are the same for all weights. Where members have different numbers of points, some rows are
    ``NOBODY``, there must be a batch size, and ``after_epoch`` is not called: each has its own epochs.
    """
    if len(set(n_points)) > 1:
        assert batch_size is not None
        return descend_at_own_pace(
            gradients, weights, settings, n_points,
            epochs=epochs, batch_size=batch_size, cosine_period=cosine_period, seeds=seeds, device=device,
        )  # fmt: skip
    on_gpu = device.type == "cuda"
    optimiser = torch.optim.Adam(_groups(weights, settings), fused=True, capturable=on_gpu)
    if on_gpu:
        recordable_rates(optimiser, device)
    return descend(
        lambda rows: set_gradients(optimiser, gradients(rows)),
        optimiser,
        n_points[0],
        epochs=epochs,
        batch_size=batch_size,
        cosine_period=cosine_period,
        seeds=seeds,
        device=device,
        after_epoch=after_epoch,
        repeats_exactly=True,
    )


def _groups(weights: Sequence[torch.Tensor], settings: Sequence[Sequence[OptimiserSettings]]) -> list[dict[str, Any]]:
    """Neighbouring weights with the same settings are in one group."""
    groups, position = [], 0
    for of_members, neighbours in groupby(zip(weights, settings, strict=True), key=itemgetter(1)):
        same = [weight for weight, _ in neighbours]
        groups += parameter_groups(same, of_members, position)
        position += len(same)
    return groups
