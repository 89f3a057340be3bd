"""What the machine has done so far, read again only after it has done more."""

from __future__ import annotations

import base64
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Literal

import numpy as np

from labelsieve.engine.run import Run
from labelsieve.engine.state import MACHINE
from labelsieve.errors import ProjectError
from labelsieve.project.project import Project
from labelsieve.reports.summary import RoundSummary, Summary, summarise
from labelsieve.types import Floats, Ints

_MOST_PANELS = 12
_MOST_PICTURES = 100


@dataclass(frozen=True, eq=False)
class MachineLabels:
    """Machine labels, the least sure first. All arrays have one entry per label."""

    rows: Ints
    labels: Ints
    rounds: Ints
    scores: Floats
    thresholds: Floats


@dataclass(frozen=True, eq=False)
class Facts:
    """A run as it stands, and what follows from it."""

    version: int
    run: Run

    @cached_property
    def summary(self) -> Summary:
        return summarise(self.run)

    @cached_property
    def machine(self) -> MachineLabels:
        state = self.run.ledger.state
        rows = np.flatnonzero(state.source[: state.n_pool] == MACHINE)
        rows = rows[np.argsort(state.score[rows], kind="stable")]
        return MachineLabels(
            rows, state.label[rows], state.round_number[rows].astype(np.int64), state.score[rows], state.threshold[rows]
        )

    @cached_property
    def row_places(self) -> dict[int, int]:
        """Where each machine-labelled row stands among the machine labels."""
        return {row: place for place, row in enumerate(self.machine.rows.tolist())}

    @property
    def last_round(self) -> RoundSummary | None:
        """The latest round that set thresholds."""
        return next((row for row in reversed(self.summary.rounds) if len(row.report.held_out.scores)), None)

    def drawn_classes(self) -> list[int]:
        """Codes of the classes that the latest round has scores of, at most a dozen."""
        row = self.last_round
        if row is None:
            return []
        counts = np.bincount(row.report.held_out.predicted, minlength=len(self.run.classes))
        most = np.argsort(-counts, kind="stable")[:_MOST_PANELS]
        return sorted(code for code in most.tolist() if counts[code])


class Record:
    """Facts of the latest version, and their pictures. Reads with a connection of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._facts: Facts | None = None
        self._pictures: OrderedDict[tuple[int, int], tuple[bytes, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def facts(self, version: int) -> Facts | None:
        """None before the first run."""
        with self._lock:
            if self._facts is None or self._facts.version != version:
                with Project(self._folder) as project:
                    try:
                        run = project.so_far()
                    except ProjectError:
                        return None
                    if not run.pool_size:
                        return None
                    self._facts = Facts(version, run)
            return self._facts

    def score_picture(self, facts: Facts, code: int, scheme: Literal["light", "dark"]) -> bytes | None:
        """Scores of the held-out points of one class, as SVG; None if there are none."""
        row = facts.last_round
        if row is None or not (row.report.held_out.predicted == code).any():
            return None
        with self._lock:  # drawing changes settings that all threads share
            key = (facts.version, code)
            if key not in self._pictures:
                self._pictures[key] = _drawn(row, code)
                if len(self._pictures) > _MOST_PICTURES:
                    self._pictures.popitem(last=False)
            return self._pictures[key][scheme == "dark"]


def _drawn(row: RoundSummary, code: int) -> tuple[bytes, bytes]:
    # Imported here: the labelling page needs no drawing, and its first answer should not wait for it.
    from labelsieve.reports.plots import score_figure
    from labelsieve.reports.score_axis import score_axis
    from labelsieve.reports.theme import picture

    held_out = row.report.held_out
    own = held_out.predicted == code
    right, wrong = held_out.scores[own & held_out.correct], held_out.scores[own & ~held_out.correct]
    axis = score_axis(held_out.scores)
    found = picture(partial(score_figure, right, wrong, float(row.report.thresholds[code]), axis), "")
    light, dark = (base64.b64decode(uri.partition(",")[2]) for uri in (found.light, found.dark))
    return light, dark
