"""In this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from labelsieve.executors.base import Executor, with_threads


class LocalExecutor(Executor):
    """One piece after the other. What is done at the same time is inside a piece: many fits as one tensor program.

    threads: of the processor that a piece may use. Another number can change the last digits of sums, and with them
        the course of a long training.
    """

    def map(
        self, function: Callable[..., Any], items: Sequence[Any], common: Sequence[Any] = ()
    ) -> Iterator[tuple[int, Any]]:
        for index, item in enumerate(items):
            yield index, with_threads(self.threads, function, item, *common)
