"""What people said about machine labels afterwards. The ledger is not changed by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from labelsieve.store.database import Database, now


@dataclass(frozen=True)
class Review:
    """``label`` is None if the machine's was accepted."""

    row: int
    label: str | None
    annotator: str


class Reviews:
    """All are kept; the latest of an item counts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, reviews: Iterable[Review]) -> None:
        """All of them, or none."""
        at = now()
        with self._database.transaction() as connection:
            connection.executemany(
                "INSERT INTO reviews (row, label, annotator, at) VALUES (?, ?, ?, ?)",
                [(review.row, review.label, review.annotator, at) for review in reviews],
            )

    def latest(self) -> dict[int, Review]:
        """The review that counts, by row."""
        found = self._database.read("SELECT row, label, annotator FROM reviews ORDER BY number")
        return {row: Review(row, label, annotator) for row, label, annotator in found}
