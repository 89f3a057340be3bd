"""Linear algebra on as many threads as it is worth."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import threadpool_info, threadpool_limits

_WORTH_SHARING = 100_000_000
"""Multiplications of one matrix product."""


def threads_for(multiplications: int) -> threadpool_limits:
    """One thread for work made of products this small: handing them out takes longer than they do, and where other
    programs keep the processors busy, ten to fifty times as long."""
    return threadpool_limits(1 if multiplications < _WORTH_SHARING else None, "blas")


def for_each_chunk(n: int, size: int, do: Callable[[slice], None]) -> None:
    """``do`` for slices of so many rows, one on each thread that linear algebra may have."""
    threads = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
    chunks = [slice(start, start + size) for start in range(0, n, size)]
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(do, chunks):
            pass
