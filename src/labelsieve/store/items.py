"""What is to be labelled, by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from labelsieve.errors import DataError
from labelsieve.store.database import Database
from labelsieve.types import Array, Ints

_AT_ONCE = 500
_LONGEST_ID = 300
"""Arrays of ids take as much room for each as for the longest."""


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
                longest = max(ids, key=len, default="")
                if len(longest) > _LONGEST_ID:
                    raise DataError(
                        f"Ids must have at most {_LONGEST_ID} characters; one has {len(longest):,}: {longest[:40]!r}… "
                        "Name another column, or none: rows are then numbered."
                    )
                numbered = zip(range(row, row + len(ids)), ids, contents, strict=True)
                connection.executemany("INSERT INTO items (row, id, content) VALUES (?, ?, ?)", numbered)
                row += len(ids)
        return row

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
