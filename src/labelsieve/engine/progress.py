"""What a watcher of a run is told, and the progress bars made of it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from labelsieve.engine.entries import Role
from labelsieve.types import RoundReport

if TYPE_CHECKING:
    from rich.progress import Progress

_TRAINING_SHARE = 0.7
"""Share of a round's bar that training fills; scoring the pool fills the rest."""


class Observer:
    """Told what the loop is doing; this one says nothing. Shares run from 0 to 1."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def looking(self, done: int, total: int) -> None:
        """A network has looked at so many of the images; told once with 0 when it begins."""
        return None

    def asking(self, n: int, role: Role) -> None:
        return None

    def round_started(self, number: int, train_points: int) -> None:
        return None

    def training(self, share: float) -> None:
        return None

    def scoring(self, done: int, total: int) -> None:
        """So many points of the pool are scored; told once with 0 when it begins."""
        return None

    def round_closed(self, report: RoundReport) -> None:
        return None


class PlainLines(Observer):
    """One line per round, for logs and terminals that cannot redraw."""

    def round_closed(self, report: RoundReport) -> None:
        print(_outcome(report), flush=True)


class LiveBars(Observer):
    """Bars that move, on the error stream so that output can be piped."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress: Progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def looking(self, done: int, total: int) -> None:
        if done == 0:
            self._looking_since = time.monotonic()
            self._looking = self._progress.add_task("", total=total)
        pace = _pace(done, total, time.monotonic() - self._looking_since, "images")
        self._progress.update(self._looking, description=f"looking at images{pace}", completed=done)


class Bars(LiveBars):
    """One live bar per round."""

    def asking(self, n: int, role: Role) -> None:
        # An annotator may be a person at this terminal: no bar moves while they answer.
        self._progress.console.print(f"asking for {n:,} {role.name.lower()} labels")

    def round_started(self, number: int, train_points: int) -> None:
        self._round, self._train_points = number, train_points
        self._task = self._progress.add_task("", total=1.0)
        self.training(0.0)

    def training(self, share: float) -> None:
        text = f"round {self._round} · training on {self._train_points:,} labels"
        self._progress.update(self._task, description=text, completed=_TRAINING_SHARE * share)

    def scoring(self, done: int, total: int) -> None:
        if done == 0:
            self._scoring_since = time.monotonic()
        text = f"round {self._round} · scoring the pool{_pace(done, total, time.monotonic() - self._scoring_since)}"
        share = done / max(1, total)
        completed = _TRAINING_SHARE + (1 - _TRAINING_SHARE) * share
        self._progress.update(self._task, description=text, completed=completed)

    def round_closed(self, report: RoundReport) -> None:
        self._progress.update(self._task, description=_outcome(report), completed=1.0)


class ManyBars(LiveBars):
    """One live bar for many runs side by side."""

    def __enter__(self) -> Self:
        self._task = self._progress.add_task("starting", total=1.0)
        return super().__enter__()

    def together(self, runs: int, finished: int, rounds: int) -> None:
        """So many of the runs have ended, and the one that is farthest has closed so many rounds."""
        text = f"{runs:,} runs side by side · {rounds} rounds done · {finished:,} runs finished"
        self._progress.update(self._task, description=text, completed=finished / runs)


def _pace(done: int, total: int, seconds: float, what: str = "points") -> str:
    """Throughput and time left; nothing before there is anything to go by."""
    if not done or seconds <= 0:
        return ""
    left = round((total - done) * seconds / done)
    return f" · {done / seconds:,.0f} {what}/s · {left // 60}:{left % 60:02} left"


def _outcome(report: RoundReport) -> str:
    expected = report.expected_machine_labels
    return (
        f"round {report.number} · {report.train_points:,} training labels · "
        f"{report.machine_labelled:,} machine labels · {report.remaining:,} left"
        + ("" if expected is None else f" · {expected:,.0f} machine labels expected")
    )


def bars_if_terminal(wanted: bool, bars: type[Observer] = Bars) -> Observer:
    """Bars for people, silence for logs."""
    return bars() if wanted and sys.stderr.isatty() else Observer()
