"""Linear algebra on as many threads as it is worth."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

_WORTH_SHARING = 100_000_000
"""Multiplications of one matrix product."""


def threads_for(multiplications: int) -> AbstractContextManager[Any]:
    """One thread for work made of products this small: handing them out takes longer than they do, and where other
    programs keep the processors busy, ten to fifty times as long."""
    return _one_thread() if multiplications < _WORTH_SHARING else nullcontext()


def for_each_chunk(n: int, size: int, do: Callable[[slice], None]) -> None:
    """``do`` for slices of so many rows, one on each thread that linear algebra may have."""
    chunks = [slice(start, start + size) for start in range(0, n, size)]
    if len(chunks) < 2:
        for chunk in chunks:
            do(chunk)
        return
    threads = max((pool["num_threads"] for pool in _linear_algebra().info()), default=1)
    with _one_thread(), ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(do, chunks):
            pass


def _one_thread() -> AbstractContextManager[Any]:
    limited: AbstractContextManager[Any] = _linear_algebra().limit(limits=1)
    return limited


@cache
def _linear_algebra() -> ThreadpoolController:
    """Looked for once, since that takes longer than a small fit."""
    return ThreadpoolController().select(user_api="blas")
