"""Points in a Parquet file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from labelsieve.data.sources.base import Chunks, Source, as_index
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array, Ints

_BATCH_BYTES = 8 * 2**20
_COLUMN_BUFFER_BYTES = 64 * 2**10
"""Read ahead in each column, of which there may be thousands."""


class ParquetFile(Source):
    """One feature per numeric column, or all features in one column of lists of fixed size.

    The column ``id``, or the index that pandas saved, names the points. Row groups without a row that is asked for are
    skipped; inside one, Parquet can only be read from its start.
    """

    may_have_gaps: ClassVar[bool] = True

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as file:
            schema, content = file.schema_arrow, file.metadata
            id_column = self._id_column(schema)
            self._columns = [name for name in schema.names if name != id_column]
            width, self.dtype = self._layout([schema.field(name) for name in self._columns])
            self.shape = (content.num_rows, width)
            self._group_ends = np.cumsum([content.row_group(g).num_rows for g in range(content.num_row_groups)])
            self._batch_rows = max(1, _BATCH_BYTES // (width * self.dtype.itemsize))
            if id_column is not None and content.num_rows:
                batches = file.iter_batches(self._batch_rows, columns=[id_column])
                self.ids = np.concatenate([np.asarray(batch.column(0).to_pylist()) for batch in batches])

    def _chunks(self, rows: Ints, size: int) -> Chunks:
        return _regrouped(self._pieces(rows), size)

    def _pieces(self, rows: Ints) -> Chunks:
        groups, group_of_row = np.unique(np.searchsorted(self._group_ends, rows, side="right"), return_inverse=True)
        starts = np.r_[0, self._group_ends][groups]
        sizes = self._group_ends[groups] - starts
        skipped_before = starts - (np.cumsum(sizes) - sizes)
        places = rows - skipped_before[group_of_row]  # of the rows, in what is read
        seen = 0
        with self._open() as file:
            for batch in file.iter_batches(self._batch_rows, row_groups=groups.tolist(), columns=self._columns):
                first, end = np.searchsorted(places, [seen, seen + batch.num_rows])
                if first < end:
                    yield self._numbers(batch)[as_index(places[first:end] - seen)]
                if end == len(places):
                    return
                seen += batch.num_rows

    def _numbers(self, batch: Any) -> Array:
        by_column = [
            column.flatten() if hasattr(column.type, "list_size") else column  # the values of all lists, one by one
            for column in batch.columns
        ]
        for name, column, values in zip(self._columns, batch.columns, by_column, strict=True):
            if column.null_count or values.null_count:
                raise DataError(
                    f"{str(self._path)!r} must have a value for every point; column {name!r} has empty places. "
                    "Fill them in or leave those points out."
                )
        numbers = np.empty((len(by_column), len(by_column[0])), dtype=self.dtype)
        for row, values in zip(numbers, by_column, strict=True):
            row[:] = values.to_numpy(zero_copy_only=False)
        return numbers.reshape(-1, self.shape[1]) if len(by_column) == 1 else np.ascontiguousarray(numbers.T)

    def _layout(self, fields: list[Any]) -> tuple[int, np.dtype[Any]]:
        """How many features there are, and their common type."""
        if not fields:
            raise DataError(f"{str(self._path)!r} must have at least one numeric column besides the ids; it has none.")
        if len(fields) == 1 and hasattr(fields[0].type, "list_size"):
            return fields[0].type.list_size, self._number_type(fields[0].name, fields[0].type.value_type)
        return len(fields), np.result_type(*(self._number_type(field.name, field.type) for field in fields))

    def _number_type(self, column: str, kind: Any) -> np.dtype[Any]:
        dtype: np.dtype[Any]
        try:
            dtype = np.dtype(kind.to_pandas_dtype())
        except NotImplementedError:
            dtype = np.dtype(object)
        if dtype.kind not in "buif":
            raise DataError(
                f"{str(self._path)!r} must have numeric columns, or one column of lists of fixed size; column "
                f"{column!r} is {kind}. Leave it out, or call it 'id' if it names the points."
            )
        return dtype

    def _id_column(self, schema: Any) -> str | None:
        """``id``, or the index of a DataFrame where it was saved as a column: a feature it is not."""
        saved = (schema.pandas_metadata or {}).get("index_columns", [])
        names = sorted({"id"} & set(schema.names) | {name for name in saved if isinstance(name, str)})
        if len(names) > 1:
            raise DataError(
                f"{str(self._path)!r} must have one column that names the points; it has {', '.join(names)}. "
                "Save the table with index=False."
            )
        return names[0] if names else None

    def _open(self) -> Any:
        try:
            import pyarrow.lib
            import pyarrow.parquet
        except ImportError as error:
            raise ConfigurationError("Reading Parquet needs pyarrow: pip install pyarrow.") from error
        try:
            return pyarrow.parquet.ParquetFile(self._path, buffer_size=_COLUMN_BUFFER_BYTES, pre_buffer=False)
        except (pyarrow.lib.ArrowException, OSError) as error:
            raise DataError(f"{str(self._path)!r} must be a Parquet file; it cannot be read: {error}") from error


def _regrouped(pieces: Iterable[Array], size: int) -> Chunks:
    """The same points in chunks of ``size``."""
    kept: list[Array] = []
    n = 0
    for piece in pieces:
        kept.append(piece)
        n += len(piece)
        if n >= size:
            together = np.concatenate(kept)
            whole = n - n % size
            for start in range(0, whole, size):
                yield together[start : start + size]
            kept, n = [together[whole:]], n - whole
    if n:
        yield np.concatenate(kept)
