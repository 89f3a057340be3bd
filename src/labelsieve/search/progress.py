"""What a watcher of a search is told, and the bars and lines made of it."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress


class SearchObserver:
    """Told what a search is doing; this one says nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def phase_started(self, name: str, total: int, known: int) -> None:
        """``known`` of ``total`` measurements come from the cache."""
        return None

    def measured(self, n: int) -> None:
        """This many more are known."""
        return None


class SearchLines(SearchObserver):
    """A line whenever more is known, for logs; on the error stream, so that output can be piped."""

    def phase_started(self, name: str, total: int, known: int) -> None:
        self._name, self._total, self._done = name, total, known
        print(f"{name}: {total:,} fits, {known:,} of them known from the cache", file=sys.stderr, flush=True)

    def measured(self, n: int) -> None:
        self._done += n
        print(f"{self._name}: {self._done:,} of {self._total:,} fits done", file=sys.stderr, flush=True)


class SearchBars(SearchObserver):
    """One live bar per phase, on the error stream."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._progress: Progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("fits"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def phase_started(self, name: str, total: int, known: int) -> None:
        self._task = self._progress.add_task(name, total=total, completed=known)

    def measured(self, n: int) -> None:
        self._progress.advance(self._task, n)


def search_observer(wanted: bool | SearchObserver) -> SearchObserver:
    """Bars for people, silence for logs, or the watcher given."""
    if isinstance(wanted, SearchObserver):
        return wanted
    return SearchBars() if wanted and sys.stderr.isatty() else SearchObserver()
