"""Tables in Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelsieve.data.readers import arrow
from labelsieve.data.readers.base import Block, Reader
from labelsieve.errors import DataError


class ParquetReader(Reader):
    """Only the columns that are asked for are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as file:
            self.columns = list(file.schema_arrow.names)
            content = file.metadata
            rows = content.num_rows
            self._bytes = sum(content.row_group(group).total_byte_size for group in range(content.num_row_groups))
        self._refuse_repeated_columns()
        if not rows or not self.columns:
            raise DataError(
                f"{str(path)!r} must have a row of data at least; it has {rows} rows and {len(self.columns)} columns."
            )

    def _blocks(self, columns: list[str], size: int) -> Iterator[Block]:
        import pyarrow.lib

        with self._open() as file:
            try:
                step = arrow.rows_at_once(self._bytes, file.metadata.num_rows, size)
                yield from arrow.blocks(file.iter_batches(step, columns=columns), columns, size)
            except (pyarrow.lib.ArrowException, OSError) as error:
                raise DataError(f"{str(self.path)!r} must be whole; it is damaged: {error}") from error

    def _open(self) -> Any:
        import pyarrow.lib
        import pyarrow.parquet

        try:
            return pyarrow.parquet.ParquetFile(self.path, pre_buffer=False)
        except (pyarrow.lib.ArrowException, OSError) as error:
            raise DataError(
                f"{str(self.path)!r} must be a Parquet file, as its name says; it cannot be read as one: {error}. "
                "If it is a table in text, give it the name ending of that (.csv, .jsonl)."
            ) from error
