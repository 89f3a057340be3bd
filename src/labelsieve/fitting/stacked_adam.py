"""Adam for weights (m, ...) of many members that are at different points of their schedules."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from labelsieve.fitting.devices import triton_compiles
from labelsieve.fitting.members import lying_as

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8
"""Those of ``torch.optim.Adam``."""


class StackedAdam:
    """As ``torch.optim.Adam``, which knows one learning rate for all members of a weight, and takes a launch of its own
    for each other one.

    ``decays``: for each weight the weight decay of each member, (m,). ``scales`` (m + 1,) is written to before a step,
    from ``scales_at``: on a GPU a step can be recorded, and reads what is there then.
    """

    def __init__(self, weights: Sequence[torch.Tensor], decays: Sequence[torch.Tensor]) -> None:
        self.weights = [weight.detach() for weight in weights]
        self.scales = torch.zeros(len(self.weights[0]) + 1, device=self.weights[0].device)
        self._decays = decays
        self._means = [torch.zeros_like(weight) for weight in self.weights]
        self._squares = [torch.zeros_like(weight) for weight in self.weights]
        self._update = _by_torch
        if triton_compiles(self.scales.device):
            from labelsieve.fitting.stacked_adam_kernel import update

            self._update = update

    @staticmethod
    def scales_at(steps: torch.Tensor, rates: torch.Tensor) -> torch.Tensor:
        """What to write before each of these steps (s,), counted from 1, with learning rates (s, m), both in double
        precision: rates corrected for the start of the first average, and last the correction of the second."""
        corrected = rates / (1 - FIRST_DECAY**steps)[:, None]
        return torch.cat([corrected, (1 - SECOND_DECAY**steps).rsqrt()[:, None]], dim=1).float()

    @torch.no_grad()
    def step(self, gradients: Sequence[torch.Tensor]) -> None:
        """Move all weights."""
        each = zip(self.weights, gradients, self._means, self._squares, self._decays, strict=True)
        for weight, gradient, mean, square, decay in each:
            self._update(weight, lying_as(weight, gradient), mean, square, self.scales, decay)


def _by_torch(
    weight: torch.Tensor,
    gradient: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    scales: torch.Tensor,
    decay: torch.Tensor,
) -> None:
    rates, decays = (of_member.view(-1, *[1] * (weight.ndim - 1)) for of_member in (scales[:-1], decay))
    gradient = gradient + decays * weight
    mean.lerp_(gradient, 1 - FIRST_DECAY)
    square.mul_(SECOND_DECAY).addcmul_(gradient, gradient, value=1 - SECOND_DECAY)
    weight -= rates * mean / (square.sqrt() * scales[-1] + EPSILON)
