"""What every executor shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from threadpoolctl import threadpool_limits

from labelsieve.errors import ConfigurationError


class Executor(ABC):
    """Does pieces of work that do not depend on each other, in any order and place.

    To add one: a file here with a subclass that implements ``map`` and, if it holds anything, ``open`` and ``close``; a
    line in ``as_executor``. Every executor gives the same results: the work brings its own seeds, and runs on the same
    number of ``threads``, which decides in what order long sums are added up.
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = checked_count("threads", threads)

    @abstractmethod
    def map(
        self, function: Callable[..., Any], items: Sequence[Any], common: Sequence[Any] = ()
    ) -> Iterator[tuple[int, Any]]:
        """``(index, function(items[index], *common))`` for every item, as they are finished.

        ``common`` are objects that all pieces need. Each travels to a place once, however many pieces are done there,
        and must not be changed afterwards. An exception of ``function`` is raised here.
        """

    def open(self) -> None:
        """Get ready, or raise; called before people are asked for anything. ``map`` does it where nobody has."""
        return None

    def close(self) -> None:
        """Give back what this executor itself has started; it starts again if it is used again."""
        return None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def with_threads(threads: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """The function's result, computed on this many threads."""
    with threadpool_limits(threads):
        return function(*arguments)


def checked_count(name: str, value: Any) -> int:
    """A whole number from 1 on, or ``ConfigurationError``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{name} must be a whole number from 1 on; got {value!r}.")
    return value
