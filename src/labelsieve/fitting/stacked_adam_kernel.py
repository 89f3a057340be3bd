"""A step of Adam for one weight of all members, in one pass over memory.

This file imports Triton, and is itself imported only where that is there.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from labelsieve.fitting.stacked_adam import EPSILON, FIRST_DECAY, SECOND_DECAY

_BLOCK = 1024


def update(
    weight: torch.Tensor,
    gradient: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    scales: torch.Tensor,
    decay: torch.Tensor,
) -> None:
    """Of weights (m, ...) without gaps, gradient and averages lying as they do; see ``StackedAdam``."""
    members, n = len(weight), weight[0].numel()
    _adam_kernel[(triton.cdiv(n, _BLOCK), members)](
        weight, gradient, mean, square, scales, decay, n, members, FIRST_DECAY, SECOND_DECAY, EPSILON, _BLOCK
    )


@triton.jit
def _adam_kernel(
    weight, gradient, mean, square, scales, decay, n, members,
    first_decay: tl.constexpr, second_decay: tl.constexpr, epsilon: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    member = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * block + tl.arange(0, block)
    mask = i < n
    at = member * n + i
    w = tl.load(weight + at, mask=mask)
    g = tl.load(gradient + at, mask=mask) + tl.load(decay + member) * w
    m = first_decay * tl.load(mean + at, mask=mask) + (1 - first_decay) * g
    s = second_decay * tl.load(square + at, mask=mask) + (1 - second_decay) * g * g
    tl.store(mean + at, m, mask=mask)
    tl.store(square + at, s, mask=mask)
    tl.store(
        weight + at, w - tl.load(scales + member) * m / (tl.sqrt(s) * tl.load(scales + members) + epsilon), mask=mask
    )
