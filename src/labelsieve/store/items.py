"""What is to be labelled, by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from labelsieve.errors import DataError
from labelsieve.store.database import Database
from labelsieve.types import Array, Ints

_AT_ONCE = 500
_LONGEST_ID = 300
"""Arrays of ids take as much room for each as for the longest."""
_CHANGED_SHOWN = 5
_INSERT = "INSERT INTO items (row, id, content) VALUES (?, ?, ?)"


class Added(NamedTuple):
    """How many items were new, and how many were there already."""

    new: int
    known: int


class Items:
    """Ids and contents of the rows of a project."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __len__(self) -> int:
        return int(self._database.read("SELECT count(*) FROM items").fetchone()[0])

    def fill(self, chunks: Iterable[tuple[Sequence[str], Sequence[str]]]) -> int:
        """Write all items, chunks of ids and contents, or none; returns how many there are."""
        row = 0
        with self._database.transaction() as connection:
            for ids, contents in chunks:
                _refuse_long_ids(ids)
                numbered = zip(range(row, row + len(ids)), ids, contents, strict=True)
                connection.executemany(_INSERT, numbered)
                row += len(ids)
        return row

    def add(self, chunks: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Added:
        """Write those whose id is not there yet; none at all if one that is there has another content by now."""
        n_known, changed = 0, []
        with self._database.transaction() as connection:
            (first_new,) = connection.execute("SELECT coalesce(max(row), -1) + 1 FROM items").fetchone()
            row = first_new
            for ids, contents in chunks:
                _refuse_long_ids(ids)
                for id_, content in zip(ids, contents, strict=True):
                    known = connection.execute("SELECT content FROM items WHERE id = ?", (id_,)).fetchone()
                    if known is None:
                        connection.execute(_INSERT, (row, id_, content))
                        row += 1
                    elif known[0] == content:
                        n_known += 1
                    else:
                        changed.append(id_)
            if changed:
                named = ", ".join(map(repr, changed[:_CHANGED_SHOWN])) + (
                    ", …" if len(changed) > _CHANGED_SHOWN else ""
                )
                raise DataError(
                    f"An id must stand for the same item as before; {len(changed):,} have another content: {named}. "
                    "Nothing was added. Give changed items ids of their own, or make a new project. Where ids are row "
                    "numbers, give the whole file, with the new rows at its end."
                )
        return Added(row - first_new, n_known)

    def ids(self) -> Array:
        """All ids, by row."""
        return np.array([id_ for (id_,) in self._database.read("SELECT id FROM items ORDER BY row")], dtype=str)

    def chunks(self, start: int = 0, size: int = 1000) -> Iterator[list[str]]:
        """Contents from a row on, in order."""
        cursor = self._database.read("SELECT content FROM items WHERE row >= ? ORDER BY row", (start,))
        while rows := cursor.fetchmany(size):
            yield [content for (content,) in rows]

    def take(self, rows: Ints) -> list[tuple[str, str]]:
        """Ids and contents of these rows, in their order."""
        found: dict[int, tuple[str, str]] = {}
        for some in (rows[i : i + _AT_ONCE].tolist() for i in range(0, len(rows), _AT_ONCE)):
            places = ", ".join("?" * len(some))
            statement = f"SELECT row, id, content FROM items WHERE row IN ({places})"
            found |= {row: (id_, content) for row, id_, content in self._database.read(statement, some)}
        return [found[row] for row in rows.tolist()]

    def row_of(self, id_: str) -> int | None:
        found = self._database.read("SELECT row FROM items WHERE id = ?", (id_,)).fetchone()
        return None if found is None else int(found[0])


def _refuse_long_ids(ids: Sequence[str]) -> None:
    longest = max(ids, key=len, default="")
    if len(longest) > _LONGEST_ID:
        raise DataError(
            f"Ids must have at most {_LONGEST_ID} characters; one has {len(longest):,}: {longest[:40]!r}… "
            "Name another column, or none: rows are then numbered."
        )
