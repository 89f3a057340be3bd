"""What every executor shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self


class Executor(ABC):
    """Does pieces of work that do not depend on each other, in any order and place.

    To add one: a file here with a subclass that implements ``map`` and, if it holds anything open, ``close``; a line in
    ``as_executor``. Every executor gives the same results: the work brings its own seeds.
    """

    @abstractmethod
    def map(
        self, function: Callable[[Any, Any], Any], items: Sequence[Any], common: Any = None
    ) -> Iterator[tuple[int, Any]]:
        """``(index, function(common, items[index]))`` for every item, as they are finished.

        ``common`` is what all pieces need, and travels to a place once however many of them are done there. An
        exception of ``function`` is raised here.
        """

    def close(self) -> None:
        """Give back what this executor itself has started; it starts again if it is used again."""
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
