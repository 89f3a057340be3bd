"""3 × 3 convolutions of many members at once, on a GPU: each member has weights and points of its own.

cuDNN's grouped convolutions are slower than one member after the other, and one member leaves most of a GPU idle.
Pixels lie as (m, b, h, w, c), in bf16; weights as (m, 9 · c, k), the nine taps row by row, stay in single precision and
are rounded where they are used. c and k are powers of 2, 16 at least. Sums are in single precision and always in the
same order.

This file imports Triton, and is itself imported only where that is there.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


def convolve(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """ReLU of the convolution with zeros around the image: (m, b, h, w, c) to (m, b, h, w, k)."""
    result: torch.Tensor = _Convolution.apply(x, weight, bias)
    return result


def convolve_and_halve(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same, and of each 2 × 2 pixels the largest: (m, b, h, w, c) to (m, b, h / 2, w / 2, k)."""
    result: torch.Tensor = _HalvedConvolution.apply(x, weight, bias)
    return result


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        rounded = weight.to(x.dtype)
        y = _convolved(x, rounded, bias)
        ctx.save_for_backward(x, rounded, y)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, rounded, y = ctx.saved_tensors
        before_relu = torch.ops.aten.threshold_backward(gradients[0].contiguous(), y, 0)
        return _backward(x, rounded, before_relu, ctx.needs_input_grad[0])


class _HalvedConvolution(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        rounded = weight.to(x.dtype)
        halved, where = _halve(_convolved(x, rounded, bias))
        ctx.save_for_backward(x, rounded, where)
        return halved

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, rounded, where = ctx.saved_tensors
        return _backward(x, rounded, _unhalve(gradients[0].contiguous(), where), ctx.needs_input_grad[0])


def _convolved(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, turned: bool = False) -> torch.Tensor:
    """Without a bias also without ReLU. ``turned``: with the weights that lead from k back to c, taps the other way."""
    m, b, h, w, c = x.shape
    k = weight.shape[1] // 9 if turned else weight.shape[2]
    y = torch.empty((m, b, h, w, k), dtype=x.dtype, device=x.device)
    pixels, block_p, block_k = b * h * w, 128, min(k, 128)
    _convolution_kernel[(triton.cdiv(pixels, block_p), k // block_k, m)](
        x, weight, bias, y, pixels, h, w, c, k, bias is not None, turned, block_p, min(c, 64), block_k,
        num_warps=4, num_stages=3,
    )  # fmt: skip
    return y


def _backward(
    x: torch.Tensor, weight: torch.Tensor, gradient: torch.Tensor, of_x: bool
) -> tuple[torch.Tensor | None, torch.Tensor, torch.Tensor]:
    """Of x, weight and bias, given the gradient before ReLU."""
    m, b, h, w, c = x.shape
    k = gradient.shape[4]
    pixels, block_p, block_c, block_k = b * h * w, 64, min(c, 128), min(k, 128)
    parts = max(1, pixels // _PIXELS_IN_A_PART)
    of_weight = torch.empty((parts, m, 9 * c, k), dtype=torch.float32, device=x.device)
    _weight_kernel[(9 * (c // block_c) * (k // block_k), parts, m)](
        x, gradient, of_weight, pixels, triton.cdiv(pixels, parts * block_p) * block_p, h, w, c, k,
        block_p, block_c, block_k, num_warps=4, num_stages=3,
    )  # fmt: skip
    return (
        _convolved(gradient, weight, None, turned=True) if of_x else None,
        of_weight.sum(dim=0) if parts > 1 else of_weight[0],
        gradient.sum(dim=(1, 2, 3), dtype=torch.float32),
    )


_PIXELS_IN_A_PART = 4096
"""Of the sum over pixels that makes the gradient of a weight: parts keep more of the GPU busy."""


@triton.jit
def _convolution_kernel(
    x, weight, bias, y, pixels,
    h: tl.constexpr, w: tl.constexpr, c: tl.constexpr, k: tl.constexpr,
    with_bias: tl.constexpr, turned: tl.constexpr,
    block_p: tl.constexpr, block_c: tl.constexpr, block_k: tl.constexpr,
):  # fmt: skip
    """``block_p`` pixels and ``block_k`` channels of the result of one member."""
    member = tl.program_id(2).to(tl.int64)
    p = tl.program_id(0).to(tl.int64) * block_p + tl.arange(0, block_p)
    ks = tl.program_id(1) * block_k + tl.arange(0, block_k)
    cs = tl.arange(0, block_c)
    row, column = (p // w) % h, p % w
    x += member * pixels * c
    weight += member * 9 * c * k
    total = tl.zeros((block_p, block_k), dtype=tl.float32)
    chunks: tl.constexpr = c // block_c
    for step in range(9 * chunks):
        tap, chunk = step // chunks, step % chunks
        down, right = tap // 3 - 1, tap % 3 - 1
        inside = (row + down >= 0) & (row + down < h) & (column + right >= 0) & (column + right < w) & (p < pixels)
        there = (p + down * w + right)[:, None] * c + (chunk * block_c + cs)[None, :]
        seen = tl.load(x + there, mask=inside[:, None], other=0.0)
        if turned:
            weights = tl.load(weight + ((8 - tap) * k + ks)[None, :] * c + (chunk * block_c + cs)[:, None])
        else:
            weights = tl.load(weight + (step * block_c + cs)[:, None] * k + ks[None, :])
        total = tl.dot(seen, weights, total)
    if with_bias:
        total += tl.load(bias + member * k + ks)[None, :]
        total = tl.maximum(total, 0.0)
    place = y + member * pixels * k + p[:, None] * k + ks[None, :]
    tl.store(place, total.to(y.dtype.element_ty), mask=(p < pixels)[:, None])


@triton.jit
def _weight_kernel(
    x, gradient, of_weight, pixels, pixels_in_part: tl.constexpr,
    h: tl.constexpr, w: tl.constexpr, c: tl.constexpr, k: tl.constexpr,
    block_p: tl.constexpr, block_c: tl.constexpr, block_k: tl.constexpr,
):  # fmt: skip
    """One tap's gradient of ``block_c`` by ``block_k`` weights of one member, summed over a part of the pixels."""
    tile, part, member = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    of_k: tl.constexpr = k // block_k
    of_c: tl.constexpr = c // block_c
    tap = tile // (of_c * of_k)
    cs = (tile // of_k) % of_c * block_c + tl.arange(0, block_c)
    ks = tile % of_k * block_k + tl.arange(0, block_k)
    down, right = tap // 3 - 1, tap % 3 - 1
    x += member * pixels * c
    gradient += member * pixels * k
    # The fast units want at least 64 rows.
    across: tl.constexpr = block_c < 64
    total = tl.zeros((block_k, block_c) if across else (block_c, block_k), dtype=tl.float32)
    for start in range(0, pixels_in_part, block_p):
        p = part.to(tl.int64) * pixels_in_part + start + tl.arange(0, block_p)
        row, column = (p // w) % h + down, p % w + right
        inside = (row >= 0) & (row < h) & (column >= 0) & (column < w) & (p < pixels)
        seen = tl.load(x + (p + down * w + right)[:, None] * c + cs[None, :], mask=inside[:, None], other=0.0)
        wanted = tl.load(gradient + p[:, None] * k + ks[None, :], mask=(p < pixels)[:, None], other=0.0)
        total = tl.dot(tl.trans(wanted), seen, total) if across else tl.dot(tl.trans(seen), wanted, total)
    members = tl.num_programs(2)
    place = of_weight + (part * members + member) * 9 * c * k + (tap * c + cs)[:, None] * k + ks[None, :]
    tl.store(place, tl.trans(total) if across else total)


def _halve(y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest of each 2 × 2 pixels, and which it is: 0 to 3, or 4 where all are 0 and ReLU lets nothing through."""
    m, b, h, w, k = y.shape
    halved = torch.empty((m, b, h // 2, w // 2, k), dtype=y.dtype, device=y.device)
    where = torch.empty(halved.shape, dtype=torch.uint8, device=y.device)
    n = halved.numel()
    _halving_kernel[(triton.cdiv(n, 1024),)](y, halved, where, n, w // 2, k, 1024)
    return halved, where


def _unhalve(gradient: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    m, b, h, w, k = gradient.shape
    whole = torch.empty((m, b, 2 * h, 2 * w, k), dtype=gradient.dtype, device=gradient.device)
    n = gradient.numel()
    _unhalving_kernel[(triton.cdiv(n, 1024),)](gradient, where, whole, n, w, k, 1024)
    return whole


@triton.jit
def _halving_kernel(y, halved, where, n, w: tl.constexpr, k: tl.constexpr, block: tl.constexpr):
    """``w``: columns of the halved image. Rows of all images follow one another, so the place needs no image."""
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    mask = i < n
    corner = (i // k // w * 4 * w + i // k % w * 2) * k + i % k
    a = tl.load(y + corner, mask=mask)
    largest, which = a, tl.zeros((block,), dtype=tl.int32)
    for place in tl.static_range(1, 4):
        other = tl.load(y + corner + (place // 2 * 2 * w + place % 2) * k, mask=mask)
        which = tl.where(other > largest, place, which)
        largest = tl.maximum(largest, other)
    tl.store(halved + i, largest, mask=mask)
    tl.store(where + i, tl.where(largest > 0, which, 4).to(tl.uint8), mask=mask)


@triton.jit
def _unhalving_kernel(gradient, where, whole, n, w: tl.constexpr, k: tl.constexpr, block: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    mask = i < n
    corner = (i // k // w * 4 * w + i // k % w * 2) * k + i % k
    of_largest = tl.load(gradient + i, mask=mask)
    which = tl.load(where + i, mask=mask).to(tl.int32)
    for place in tl.static_range(4):
        value = tl.where(which == place, of_largest, 0.0).to(whole.dtype.element_ty)
        tl.store(whole + corner + (place // 2 * 2 * w + place % 2) * k, value, mask=mask)
