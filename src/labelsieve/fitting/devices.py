"""Where and how exactly to compute."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch

from labelsieve.errors import ConfigurationError

PRECISIONS = ("full", "tf32", "bf16")

_OLDEST_GPU_FOR_TRITON = (8, 0)
"""It must know bf16."""
_COPIES = 10
"""Of weights and points, kept at once: gradients, moments, best epoch, activations and their gradients."""
_SHARE_OF_GPU = 0.5
_CPU_BYTES, _CPU_WEIGHTS = 2**30, 2**17
"""On a CPU, weights that outgrow its caches gain nothing from being handled together."""


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


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, what draws from torch's global generators (first weights, dropout) starts from this seed.

    Afterwards they are as they were: nothing is seeded globally.
    """
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        yield


@contextmanager
def kernels(precision: str, device: torch.device) -> Iterator[None]:
    """Inside, a GPU gives the same result for the same input every time.

    ``"full"`` is single precision throughout; ``"tf32"`` rounds the factors of products to 10 bits; ``"bf16"`` keeps
    activations in 8 bits and weights in single precision. On a CPU only ``"bf16"`` makes a difference.
    """
    allowed = precision == "tf32"
    before = torch.backends.cuda.matmul.allow_tf32
    with (
        torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=allowed),
        # Without the cache, which would go on using the rounded weights of the first step.
        torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16", cache_enabled=False),
        # Kernels that are not torch's own are launched on the current device.
        torch.cuda.device(device) if device.type == "cuda" else nullcontext(),
    ):
        torch.backends.cuda.matmul.allow_tf32 = allowed
        try:
            yield
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before


def triton_compiles(device: torch.device) -> bool:
    """Whether kernels of our own can run there: Triton also needs a C compiler, for what launches them."""
    if device.type != "cuda" or importlib.util.find_spec("triton") is None:
        return False
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    return bool(compiler) and torch.cuda.get_device_capability(device) >= _OLDEST_GPU_FOR_TRITON


def check_precision(precision: str) -> None:
    """Raise unless it is one of ``PRECISIONS``."""
    if precision not in PRECISIONS:
        raise ConfigurationError(f"precision must be one of {', '.join(map(repr, PRECISIONS))}; got {precision!r}.")


def members_that_pay(weight_bytes: int, point_bytes: int, device: torch.device) -> int:
    """How many members of this size to train as one: what fits on a GPU, what stays in the caches of a CPU."""
    each = _COPIES * (weight_bytes + point_bytes)
    if device.type == "cuda":
        free, _total = torch.cuda.mem_get_info(device)
        return max(1, int(_SHARE_OF_GPU * free / each))
    return max(1, min(_CPU_WEIGHTS // max(1, weight_bytes), _CPU_BYTES // each))
