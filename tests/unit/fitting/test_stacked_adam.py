"""Adam with a learning rate for each member. On a CPU, Triton interprets what a GPU does."""

from __future__ import annotations

import importlib
import os

import pytest
import torch

from labelsieve.fitting import stacked_adam
from labelsieve.fitting.stacked_adam import StackedAdam

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # read when Triton is imported

RATES, DECAYS, STEPS = (0.1, 0.01, 0.001), (0.0, 0.1, 1.0), 7


def problem(device: torch.device, dtype: torch.dtype) -> tuple[list[torch.Tensor], list[list[torch.Tensor]]]:
    """Weights of three members, one of them lying the other way round, and their gradients at each step."""
    rng = torch.Generator().manual_seed(0)

    def drawn() -> list[torch.Tensor]:
        shapes = ((3, 40, 33), (3, 5, 600), (3, 1))
        return [torch.randn(shape, generator=rng, dtype=dtype).to(device) for shape in shapes]

    first, second, third = drawn()
    return [first, second.transpose(1, 2), third], [
        [one, two.transpose(1, 2).contiguous(), three] for one, two, three in (drawn() for _ in range(STEPS))
    ]


def by_torch(weights: list[torch.Tensor], gradients: list[list[torch.Tensor]]) -> list[torch.Tensor]:
    """Each member alone."""
    members = []
    for number, (rate, decay) in enumerate(zip(RATES, DECAYS, strict=True)):
        own = [weight[number].clone() for weight in weights]
        optimiser = torch.optim.Adam(own, lr=rate, weight_decay=decay)
        for step, now in enumerate(gradients):
            optimiser.param_groups[0]["lr"] = rate / (step + 1)
            for weight, gradient in zip(own, now, strict=True):
                weight.grad = gradient[number].clone()
            optimiser.step()
        members.append(own)
    return [torch.stack(same) for same in zip(*members, strict=True)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("by_triton", [False, True])
def test_as_each_alone(by_triton, dtype):
    update = stacked_adam._by_torch
    if by_triton:
        pytest.importorskip("triton")
        update = importlib.import_module("labelsieve.fitting.stacked_adam_kernel").update
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    weights, gradients = problem(device, dtype)
    expected = by_torch(weights, gradients)
    optimiser = StackedAdam(weights, [torch.tensor(DECAYS, device=device)] * len(weights))
    optimiser._update = update
    steps = torch.arange(1, STEPS + 1, dtype=torch.float64)
    scales = StackedAdam.scales_at(steps, torch.tensor(RATES, dtype=torch.float64) / steps[:, None])
    for now, scale in zip(gradients, scales, strict=True):
        optimiser.scales.copy_(scale)
        optimiser.step(now)
    for one, other in zip(weights, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
