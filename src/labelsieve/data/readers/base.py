"""What all readers share."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

from labelsieve.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import pandas as pd

CHUNK_ROWS = 10_000
CHUNK_BYTES = 64 * 2**20
"""A chunk of rows that are very long ends, roughly, here."""


class Block(NamedTuple):
    """Some rows that follow each other: the cells of each column, and where in the file each row starts."""

    cells: list[Sequence[Any]]
    places: Sequence[int]


class Reader(ABC):
    """The rows of a file or folder, a chunk at a time.

    To add one: a file here with a subclass that sets ``path`` and ``columns`` when it is made, and there refuses a
    file without rows; that implements ``_blocks``; and a line in ``readers/__init__.py``. Nothing stays open between
    calls, and no more than a chunk is in memory.

    A cell is what the file has: text stays text, numbers of typed formats stay numbers, nested values become compact
    JSON, a value that is not there is None (in CSV there is always a text, which may be empty).
    """

    path: Path
    columns: list[str]
    place: ClassVar[str] = "row"
    """What rows are counted in when one is pointed at, from 1: "row", or "line" of a text file."""
    id_column: str | None = None
    """The column that names the rows by nature, if there is one."""
    image_column: str | None = None
    """The column that holds image paths by nature, if there is one."""

    @final
    def chunks(self, columns: Sequence[str] | None = None, size: int = CHUNK_ROWS) -> Iterator[pd.DataFrame]:
        """Tables of ``size`` rows, fewer where rows are very long, with these columns (all, unless told).

        Rows come in the order of the file; the index, named after ``place``, says where in the file each one starts.
        """
        if size < 1:
            raise ConfigurationError(f"A chunk must have at least 1 row; got size={size}.")
        chosen = self.columns if columns is None else [self.known(name) for name in dict.fromkeys(columns)]
        return self._tables(chosen, size)

    @final
    def known(self, column: str) -> str:
        """The name of a column, if there is such a column."""
        if column in self.columns:
            return column
        near = difflib.get_close_matches(column, self.columns, n=1) or [
            name for name in self.columns if name.strip().lower() == column.strip().lower()
        ]
        raise DataError(
            f"{str(self.path)!r} must have the column {column!r} that was asked for; it has "
            f"{', '.join(map(repr, self.columns)) or 'no columns'}." + (f" Did you mean {near[0]!r}?" if near else "")
        )

    @final
    def _tables(self, columns: list[str], size: int) -> Iterator[pd.DataFrame]:
        import numpy as np
        import pandas as pd

        for block in self._blocks(columns, size):
            table = {}
            for name, cells in zip(columns, block.cells, strict=True):
                table[name] = column = np.empty(len(block.places), dtype=object)
                column[:] = cells
            places = pd.Index(block.places, name=self.place, dtype=np.int64)
            yield pd.DataFrame(
                table, index=places, dtype=object
            )  # left to itself, pandas turns None among texts into NaN

    @final
    def _refuse_repeated_columns(self) -> None:
        repeated = [name for name, count in Counter(self.columns).items() if count > 1]
        if repeated:
            raise DataError(
                f"{str(self.path)!r} must give each column a name of its own; {', '.join(map(repr, repeated))} "
                f"{'come' if len(repeated) > 1 else 'comes'} more than once among "
                f"{', '.join(map(repr, self.columns))}. Rename the columns."
            )

    @abstractmethod
    def _blocks(self, columns: list[str], size: int) -> Iterator[Block]:
        """Blocks of up to ``size`` rows and about ``CHUNK_BYTES``, with the cells of these columns, which are known."""
