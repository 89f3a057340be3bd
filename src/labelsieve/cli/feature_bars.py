"""A bar while features are computed; a line per step where there is no terminal."""

from __future__ import annotations

import sys

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class FeatureBars:
    """Shown while something is computed, gone afterwards."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bars = Progress(*columns, transient=True) if sys.stderr.isatty() else None
        self._task = None if self._bars is None else self._bars.add_task("", visible=False)
        self._last = ""

    def __enter__(self) -> FeatureBars:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def show(self, what: str, done: int, total: int) -> None:
        if self._bars is None or self._task is None:
            if what != self._last:
                print(f"{what} …", file=sys.stderr)
            self._last = what
            return
        self._bars.start()
        self._bars.update(self._task, description=what, completed=done, total=total, visible=True)
        if done >= total:
            self._stop()

    def _stop(self) -> None:
        if self._bars is not None:
            self._bars.stop()
