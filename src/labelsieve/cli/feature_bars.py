"""A bar while features are computed; where there is no terminal, a line per step and now and then how far it is."""

from __future__ import annotations

import sys
import time

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_EVERY_SECONDS = 2.0


class FeatureBars:
    """Shown while something is computed, gone afterwards."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bars = Progress(*columns, transient=True) if sys.stderr.isatty() else None
        self._task = None if self._bars is None else self._bars.add_task("", visible=False)
        self._last, self._said_at = "", 0.0

    def __enter__(self) -> FeatureBars:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def show(self, what: str, done: int, total: int) -> None:
        if self._bars is None or self._task is None:
            self._say(what, done / total if total else 1.0)
            return
        self._bars.start()
        self._bars.update(self._task, description=what, completed=done, total=total, visible=True)
        if done >= total:
            self._stop()

    def _say(self, what: str, share: float) -> None:
        now = time.monotonic()
        if what != self._last:
            print(f"{what} …", file=sys.stderr)
        elif now - self._said_at >= _EVERY_SECONDS:
            print(f"{what} … {share:.0%}", file=sys.stderr)
        else:
            return
        self._last, self._said_at = what, now

    def _stop(self) -> None:
        if self._bars is not None:
            self._bars.stop()
