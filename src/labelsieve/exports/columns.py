"""What every export has in it, whatever the format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Literal, TypeAlias, get_args

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from labelsieve.errors import ConfigurationError, DataError, LabelError
from labelsieve.types import Label

Kind: TypeAlias = Literal["text", "image", "table", "features"]
COLUMNS = ("id", "label", "source", "annotator", "round", "confidence", "threshold", "model")
CONTENT = "content"
"""Stands after the others where it is asked for: a text, the path of an image, or a row of a table in JSON."""

_ROWS_TOGETHER = 100_000
_BYTES_TOGETHER = 32 * 2**20


class Layout:
    """Names and types of the columns, fixed by the classes and the first chunk; ``table`` brings chunks to them.

    What is missing is null: None, NaN, and an infinite threshold, which stands for none.
    """

    def __init__(self, first: pd.DataFrame | None, classes: Sequence[Label], kind: Kind) -> None:
        self.kind = kind
        self.classes = list(classes)
        if kind not in get_args(Kind):
            raise ConfigurationError(f"kind must be one of {', '.join(map(repr, get_args(Kind)))}; got {kind!r}.")
        if len(set(map(str, self.classes))) != len(self.classes):
            raise ConfigurationError(f"classes must be different from each other when written; got {self.classes}.")
        self.has_content = first is not None and CONTENT in first
        id_type = _inferred(first, "id").type if first is not None and "id" in first else pa.string()
        kinds = {type(name) for name in self.classes}
        if len(kinds) > 1:
            raise ConfigurationError(f"classes to export must be all texts or all integers; got {self.classes}.")
        types = {
            "id": pa.int64() if pa.types.is_integer(id_type) else pa.string(),
            "label": pa.int64() if kinds == {int} else pa.string(),
            "round": pa.int64(),
            "confidence": pa.float64(),
            "threshold": pa.float64(),
        }
        names = [*COLUMNS, CONTENT] if self.has_content else list(COLUMNS)
        self.schema = pa.schema([(name, types.get(name, pa.string())) for name in names])
        self._known_labels = pa.array(self.classes, type=types["label"])

    def table(self, chunk: pd.DataFrame) -> Any:
        """A chunk as an Arrow table."""
        expected = self.schema.names
        if set(chunk) != set(expected):
            raise DataError(
                f"Every chunk of an export must have the columns {', '.join(expected)}; "
                f"one has {', '.join(map(str, chunk))}."
            )
        arrays = [_of_type(_inferred(chunk, field.name), field) for field in self.schema]
        table = pa.Table.from_arrays(arrays, schema=self.schema)
        if table["id"].null_count:
            raise DataError(f"Every row of an export must have an id; {table['id'].null_count:,} have none.")
        self.codes(table)
        return table

    def codes(self, table: Any) -> Any:
        """The numbers of the labels in the list of classes; a label that is not in it raises."""
        labels = table["label"]
        codes = pc.index_in(labels, value_set=self._known_labels, skip_nulls=True)
        if codes.null_count > labels.null_count:
            unknown = labels.filter(pc.and_(pc.is_null(codes), pc.is_valid(labels)))[0].as_py()
            known = ", ".join(map(repr, self.classes[:10])) + (", …" if len(self.classes) > 10 else "")
            raise LabelError(f"A label must be one of the {len(self.classes)} classes ({known}); got {unknown!r}.")
        return codes.cast(pa.int64())


def opened(chunks: Iterable[pd.DataFrame], classes: Sequence[Label], kind: Kind) -> tuple[Layout, Iterator[Any]]:
    """The layout of an export and its tables, one per chunk; of the chunks only the first is taken yet."""
    rest = iter(chunks)
    first = next(rest, None)
    layout = Layout(first, classes, kind)
    return layout, (layout.table(chunk) for chunk in chain([] if first is None else [first], rest))


def gathered(tables: Iterable[Any]) -> Iterator[Any]:
    """The same rows in tables of a good size, since formats with blocks are slow to read when these are tiny."""
    kept: list[Any] = []
    for table in tables:
        kept.append(table)
        if sum(map(len, kept)) >= _ROWS_TOGETHER or sum(part.nbytes for part in kept) >= _BYTES_TOGETHER:
            yield pa.concat_tables(kept)
            kept = []
    if kept:
        yield pa.concat_tables(kept)


def _inferred(chunk: pd.DataFrame, name: str) -> Any:
    """A column as an Arrow array of the type its values have."""
    column = chunk[name]
    if column.dtype == object:
        column = column.map(_spelled_out if name == CONTENT else _encodable, na_action="ignore")
    try:
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeError) as error:
        raise DataError(f"Column {name} of an export must hold values of one kind: {error}") from None
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _of_type(array: Any, field: Any) -> Any:
    """Texts stay texts and numbers numbers; only whole numbers may come as floats, as pandas has them beside gaps."""
    wanted, found = field.type, array.type
    if pa.types.is_floating(found):
        array = pc.if_else(pc.is_finite(array), array, pa.scalar(None, found))
    if not pa.types.is_null(found) and _kind(found) != _kind(wanted):
        raise DataError(f"Column {field.name} of this export must hold {_kind(wanted)} throughout; got {found}.")
    try:
        return array.cast(wanted)
    except pa.ArrowInvalid as error:
        raise DataError(f"Column {field.name} of an export must hold {wanted}: {error}") from None


def _kind(type_: Any) -> str:
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "texts"
    return "numbers" if pa.types.is_integer(type_) or pa.types.is_floating(type_) else str(type_)


def _encodable(value: Any) -> Any:
    """File names may hold what UTF-8 cannot; it is spelled out rather than lost."""
    return value.encode("utf-8", errors="backslashreplace").decode("utf-8") if isinstance(value, str) else value


def _spelled_out(value: Any) -> Any:
    return _encodable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
