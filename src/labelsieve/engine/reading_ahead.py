"""Reading while somebody else computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_DEPTH = 2
"""Items that may wait: one that is ready, and one that is being read."""


def reading_ahead(items: Generator[T, None, None]) -> Generator[T, None, None]:
    """The same items, each read in another thread while the one before is in use; what goes wrong there is raised here.

    Close it (``contextlib.closing``) and the thread has ended, whatever happened.
    """
    reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading-ahead")
    try:
        waiting = deque(reader.submit(next, items, None) for _ in range(_DEPTH))
        while (item := waiting.popleft().result()) is not None:
            waiting.append(reader.submit(next, items, None))
            yield item
    finally:
        reader.shutdown(cancel_futures=True)
        items.close()
