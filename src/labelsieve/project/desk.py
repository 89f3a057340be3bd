"""Where people are handed one item after the other: the logic of the labelling page, without HTTP."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np

from labelsieve.errors import AnswersUsedError, DataError, ProjectError
from labelsieve.project.batch import Batch
from labelsieve.project.config import Kind
from labelsieve.project.project import LOCK_FILE, STOP_REASON, Project
from labelsieve.store.answers import Answer
from labelsieve.store.lock import held
from labelsieve.store.reviews import Review, Reviews
from labelsieve.store.seats import Lease, Pass, Seats

LEASE_SECONDS = 300.0
_SESSION_GAP_SECONDS = 3600.0

P = ParamSpec("P")
R = TypeVar("R")


class Turn(Enum):
    """Whose move it is."""

    PEOPLE = "people"
    MACHINE = "machine"
    NOBODY = "nobody"


@dataclass(frozen=True)
class Question:
    """One item before one person; ``again`` says how they passed on it earlier."""

    row: int
    id: str
    content: str
    kind: Kind
    again: Pass | None = None


@dataclass(frozen=True)
class Progress:
    """Items of this batch, labels of people in all and the most that will be asked for, and answers of one person: to
    this batch, in this session and in all."""

    batch: int
    decided: int
    labels: int
    budget: int
    given: int
    session: int
    mine: int


def _in_turn(method: Callable[Concatenate[Desk, P], R]) -> Callable[Concatenate[Desk, P], R]:
    """One call after the other, each with what other processes have written by then."""

    @wraps(method)
    def one_at_a_time(self: Desk, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            self._catch_up()
            return method(self, *args, **kwargs)

    return one_at_a_time


class Desk:
    """Used from many threads. What a method has acknowledged by returning is in the project's file."""

    def __init__(
        self, project: Project, *, lease_seconds: float = LEASE_SECONDS, clock: Callable[[], float] = time.time
    ) -> None:
        self.project = project
        self._seats = Seats(project.database)
        self._lease_seconds = lease_seconds
        self._clock = clock
        self._lock = threading.RLock()
        self._seen: int | None = None
        self._entries = -1
        self._rows: list[int] = []
        self._taken_in = 0
        self._batch = Batch((), 1)
        self._passes: dict[str, dict[int, Pass]] = {}
        self._counts: Counter[str] = Counter()
        self._sessions: dict[str, tuple[float, int]] = {}
        self._stop_reason: str | None = None

    @_in_turn
    def turn(self) -> Turn:
        if self._batch.n_open:
            return Turn.PEOPLE
        return Turn.MACHINE if len(self._batch) or self._stop_reason is None else Turn.NOBODY

    @property
    def stop_reason(self) -> str | None:
        return self._stop_reason

    @property
    def version(self) -> int:
        """Grows with every step of the machine; 0 until items are prepared and the first are asked about."""
        return self._entries

    @_in_turn
    def next_item(self, annotator: str) -> Question | None:
        """An item for this person, theirs for a while; None if there is none now."""
        now = self._clock()
        passed = self._passes.get(annotator, {})
        row = self._batch.held(annotator, now)
        if row is None or not self._batch.has_room(row, annotator, now):
            row = next((row for row in self._batch.free(annotator, now) if row not in passed), None)
        if row is None:
            # What one person passed on comes back when nothing else is left: skipped ones first, oldest first.
            order = sorted(passed, key=lambda row: passed[row] != "skip")
            row = next((row for row in order if self._batch.has_room(row, annotator, now)), None)
        return None if row is None else self._hand(row, annotator)

    @_in_turn
    def answer(self, annotator: str, row: int, label: str) -> bool:
        """Keep an answer; False, and nothing is kept, if the item needs none from this person any more."""
        if label not in self.project.config.classes:
            raise DataError(f"A label must be one of {list(self.project.config.classes)}; got {label!r}.")
        if row in self._batch and self._batch.answers(row).get(annotator) == label:
            return True  # sent twice
        if not self._batch.has_room(row, annotator, self._clock()):
            return False
        try:
            self.project.answers.add([Answer(row, label, annotator)])
        except AnswersUsedError:
            return False
        self._batch.answer(row, annotator, label)
        self._counts[annotator] += 1
        self._count_session(annotator, 1)
        return True

    @_in_turn
    def pass_on(self, annotator: str, row: int, kind: Pass) -> bool:
        """Leave an item to others; False if it is not theirs to leave."""
        if not self._batch.has_room(row, annotator, self._clock()):
            return False
        self._seats.pass_on(row, annotator, kind)
        self._batch.give_back(annotator)
        self._remember_pass(row, annotator, kind)
        return True

    @_in_turn
    def undo(self, annotator: str) -> Question | None:
        """Take back this person's last answer and hand them the item; None if the machine has, or is at, it."""
        last = self.project.database.read(
            "SELECT row FROM answers WHERE annotator = ? AND taken_back IS NULL ORDER BY number DESC LIMIT 1",
            (annotator,),
        ).fetchone()
        if last is None or last[0] not in self._batch:
            return None
        (row,) = last
        try:
            with held(self.project.folder / LOCK_FILE, "taking an answer back"):
                self._catch_up()
                if row not in self._batch or not self.project.answers.take_back(row, annotator):
                    return None
        except ProjectError:
            return None
        self._batch.take_back(row, annotator)
        self._counts[annotator] -= 1
        self._count_session(annotator, -1)
        return self._hand(row, annotator)

    @_in_turn
    def progress(self, annotator: str) -> Progress:
        labelling = self.project.config.labelling
        decided = len(self._batch) - self._batch.n_open
        labels = self._taken_in + decided
        return Progress(
            batch=len(self._batch),
            decided=decided,
            labels=labels,
            budget=max(labels, labelling.train_budget + labelling.validation_budget),  # more may be taken along
            given=self._batch.given(annotator),
            session=self._sessions.get(annotator, (0.0, 0))[1],
            mine=self._counts[annotator],
        )

    @_in_turn
    def review(self, reviews: Iterable[Review]) -> None:
        """Keep what a person said about machine labels."""
        Reviews(self.project.database).add(reviews)

    @_in_turn
    def answers_in_all(self) -> int:
        """Of all people, in all batches."""
        return self._counts.total()

    @_in_turn
    def is_asked(self, row: int) -> bool:
        """Whether the item is in this batch."""
        return row in self._batch

    def _hand(self, row: int, annotator: str) -> Question:
        until = self._clock() + self._lease_seconds
        self._seats.lease(Lease(annotator, row, until))
        self._batch.lease(row, annotator, until)
        ((id_, content),) = self.project.items.take(np.array([row]))
        again = self._passes.get(annotator, {}).get(row)
        return Question(row, id_, content, self.project.config.data.kind, again)

    def _count_session(self, annotator: str, step: int) -> None:
        now = self._clock()
        last, count = self._sessions.get(annotator, (now, 0))
        self._sessions[annotator] = (now, max(0, (count if now - last < _SESSION_GAP_SECONDS else 0) + step))

    def _remember_pass(self, row: int, annotator: str, kind: Pass) -> None:
        passed = self._passes.setdefault(annotator, {})
        passed.pop(row, None)  # to the end
        passed[row] = kind

    def _catch_up(self) -> None:
        """Read again what another process has written; SQLite tells at once whether one has."""
        database = self.project.database
        (seen,) = database.read("PRAGMA data_version").fetchone()
        if seen == self._seen:
            return
        (entries,) = database.read("SELECT coalesce(max(number), 0) FROM entries").fetchone()
        if entries != self._entries:
            asked, self._taken_in = self.project.asked_and_labelled()
            self._rows = asked.tolist()
        batch = Batch(self._rows, self.project.config.people.overlap)
        counts: Counter[str] = Counter()
        for row, annotator, label in database.read(
            "SELECT row, annotator, label FROM answers WHERE taken_back IS NULL"
        ):
            counts[annotator] += 1
            if row in batch:
                batch.answer(row, annotator, label)
        for lease in self._seats.leases():
            if lease.row in batch:
                batch.lease(lease.row, lease.annotator, lease.until)
        self._passes = {}
        for row, annotator, kind in self._seats.passes():
            if row in batch:
                self._remember_pass(row, annotator, kind)
        self._stop_reason = database.fact(STOP_REASON)
        self._seen, self._entries, self._batch, self._counts = seen, entries, batch, counts
