"""A ledger that is on disk before it is believed."""

from __future__ import annotations

from labelsieve.engine.entries import Entry
from labelsieve.engine.ledger import Ledger
from labelsieve.store.database import Database, now
from labelsieve.store.encoding import decoded, encoded


def replayed(database: Database) -> Ledger:
    """The ledger as it stands in the file, for looking at; further entries are in memory alone."""
    ledger = Ledger()
    ledger.append(*_kept(database))
    return ledger


def journalled(database: Database) -> Ledger:
    """The ledger as it stands in the file; what is appended is committed there first."""

    def keep(entries: tuple[Entry, ...]) -> None:
        with database.transaction() as connection:
            for kind, facts, arrays in map(encoded, entries):
                connection.execute(
                    "INSERT INTO entries (kind, facts, arrays, at) VALUES (?, ?, ?, ?)", (kind, facts, arrays, now())
                )

    return Ledger(_kept(database), keep)


def _kept(database: Database) -> list[Entry]:
    return [decoded(*row) for row in database.read("SELECT kind, facts, arrays FROM entries ORDER BY number")]
