"""In this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from labelsieve.executors.base import Executor


class LocalExecutor(Executor):
    """One piece after the other. What is done at the same time is inside a piece: many fits as one tensor program."""

    def map(
        self, function: Callable[[Any, Any], Any], items: Sequence[Any], common: Any = None
    ) -> Iterator[tuple[int, Any]]:
        for index, item in enumerate(items):
            yield index, function(common, item)
