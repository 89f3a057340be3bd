"""What people said, each answer on disk before it is acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from labelsieve.errors import AnswersUsedError
from labelsieve.store.database import Database, now
from labelsieve.types import Ints

_COLUMNS = ("row", "label", "annotator", "at")


@dataclass(frozen=True)
class Answer:
    """One label by one person."""

    row: int
    label: str
    annotator: str


class Answers:
    """The answers of a project. One person has one answer per item; a later one takes the place of the earlier."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, answers: Iterable[Answer]) -> None:
        """All of them, or none; ``AnswersUsedError`` if a run has used the answers to one of these items by now."""
        at = now()
        with self._database.transaction() as connection:
            for answer in answers:
                used = connection.execute("SELECT 1 FROM answers WHERE row = ? AND used", (answer.row,)).fetchone()
                if used is not None:
                    raise AnswersUsedError(
                        "Answers are for items that are asked about now; a run has used those to one of these items "
                        "meanwhile. Nothing was kept."
                    )
                connection.execute(
                    "UPDATE answers SET taken_back = ? WHERE row = ? AND annotator = ? AND taken_back IS NULL",
                    (at, answer.row, answer.annotator),
                )
                connection.execute(
                    "INSERT INTO answers (row, label, annotator, at) VALUES (?, ?, ?, ?)",
                    (answer.row, answer.label, answer.annotator, at),
                )

    def take_back(self, row: int, annotator: str) -> bool:
        """Whether there was one, and no run has used it."""
        with self._database.transaction() as connection:
            changed = connection.execute(
                "UPDATE answers SET taken_back = ? WHERE row = ? AND annotator = ? AND taken_back IS NULL AND NOT used",
                (now(), row, annotator),
            )
            return changed.rowcount > 0

    def use(self, rows: Sequence[int], decide: Callable[[pd.DataFrame], dict[int, str]]) -> dict[int, str] | None:
        """What is decided about these rows, from then on for good; None, and nothing is, if one is undecided."""
        with self._database.transaction() as connection:
            decided = decide(self.table())
            if any(row not in decided for row in rows):
                return None
            connection.executemany("UPDATE answers SET used = 1 WHERE row = ?", ((row,) for row in rows))
            return decided

    def table(self) -> pd.DataFrame:
        """Answers that count: row, label, annotator, at."""
        rows = self._database.read(
            f"SELECT {', '.join(_COLUMNS)} FROM answers WHERE taken_back IS NULL ORDER BY number"
        ).fetchall()
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype({"row": "int64"})

    def of(self, rows: Ints) -> pd.DataFrame:
        """Those about these rows."""
        table = self.table()
        return table[table["row"].isin(rows)]
