"""What people and models get to see of each row: an id and a content."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labelsieve.data.readers.base import CHUNK_ROWS, Reader
from labelsieve.data.readers.cells import as_text, compact_json, is_empty, shown
from labelsieve.data.readers.images import relative_name
from labelsieve.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import pandas as pd


def items(
    reader: Reader,
    *,
    text: str | None = None,
    image: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    image_root: str | os.PathLike[str] | None = None,
    size: int = CHUNK_ROWS,
) -> Iterator[tuple[list[str], list[str]]]:
    """Chunks of (ids, contents), in the order of the file.

    A content is the text of a column; or the path of an image from the image root on; or a compact JSON object of the
    columns (all but the id, unless told); or nothing, for arrays. Ids are those of the column ``id``, those that the
    data have by nature (paths of an image folder, ids of an array), or row numbers from 0.
    """
    choice = Choice.of(reader, text=text, image=image, id=id, columns=columns, image_root=image_root)
    return _items(reader, choice, size)


@dataclass(frozen=True)
class Choice:
    """Which columns are used, and for what; all of them exist."""

    kind: Literal["text", "image", "table", "array"]
    columns: tuple[str, ...]
    id: str | None
    image_root: Path

    @classmethod
    def of(
        cls,
        reader: Reader,
        *,
        text: str | None,
        image: str | None,
        id: str | None,
        columns: Sequence[str] | None,
        image_root: str | os.PathLike[str] | None,
    ) -> Choice:
        """Checked against what the reader has."""
        given = {"text": text, "image": image, "columns": columns}
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            raise ConfigurationError(f"An item is a text, an image or a row of columns; got {' and '.join(named)}.")
        if not named:
            image = reader.image_column
        id_ = reader.known(id) if id is not None else reader.id_column
        default_root = reader.path if reader.path.is_dir() else reader.path.parent
        root = default_root if image_root is None else Path(image_root)
        if text is not None:
            return cls("text", (reader.known(text),), id_, root)
        if image is not None:
            if not root.is_dir():
                raise DataError(f"The image root must be a folder; there is none at {str(root)!r}.")
            return cls("image", (reader.known(image),), id_, root)
        if columns is None and all(name == reader.id_column for name in reader.columns):
            return cls("array", (), id_, root)
        chosen = [name for name in reader.columns if name != id_] if columns is None else columns
        if not chosen:
            raise DataError(f"An item needs a column besides the id {id_!r}; {str(reader.path)!r} has no other.")
        return cls("table", tuple(reader.known(name) for name in dict.fromkeys(chosen)), id_, root)

    @property
    def needed(self) -> list[str]:
        """All columns that must be read."""
        return list(dict.fromkeys((*self.columns, *([] if self.id is None else [self.id]))))


def ids_of(chunk: pd.DataFrame, reader: Reader, id_column: str | None, rows_before: int) -> list[str]:
    """The ids of a chunk; an empty one raises."""
    if id_column is None:
        return list(map(str, range(rows_before, rows_before + len(chunk))))
    ids = [as_text(cell) for cell in chunk[id_column].tolist()]
    for place, id_ in zip(chunk.index, ids, strict=True):
        if is_empty(id_):
            raise DataError(
                f"Every row must have an id in column {id_column!r}; that of {_where(reader, place)} is empty. Fill it "
                "in, or leave the id column out to use row numbers."
            )
    return ids


def _items(reader: Reader, choice: Choice, size: int) -> Iterator[tuple[list[str], list[str]]]:
    contents_of: dict[str, Callable[[pd.DataFrame], list[str]]] = {
        "text": lambda chunk: [as_text(cell) for cell in chunk[choice.columns[0]].tolist()],
        "image": lambda chunk: _image_names(chunk, reader, choice),
        "table": lambda chunk: _json_objects(chunk, reader, choice),
        "array": lambda chunk: [""] * len(chunk),
    }
    rows = 0
    for chunk in reader.chunks(choice.needed, size):
        ids = ids_of(chunk, reader, choice.id, rows)
        yield ids, contents_of[choice.kind](chunk)
        rows += len(ids)


def _image_names(chunk: pd.DataFrame, reader: Reader, choice: Choice) -> list[str]:
    root = os.path.abspath(choice.image_root)
    names = []
    for place, cell in zip(chunk.index, chunk[choice.columns[0]].tolist(), strict=True):
        name = None if is_empty(cell) else relative_name(root, as_text(cell))
        if name is None:
            raise DataError(
                f"Images must lie in the folder {str(choice.image_root)!r}; {_where(reader, place)} names "
                f"{shown(cell)!r}. Name paths from that folder on, or give another image root."
            )
        names.append(name)
    return names


def _json_objects(chunk: pd.DataFrame, reader: Reader, choice: Choice) -> list[str]:
    by_column: list[list[Any]] = [chunk[name].tolist() for name in choice.columns]
    rows = zip(*by_column, strict=True)
    contents = []
    for place, row in zip(chunk.index, rows, strict=True):
        values = {name: cell if cell == cell else None for name, cell in zip(choice.columns, row, strict=True)}
        try:
            contents.append(compact_json(values))
        except ValueError:
            raise DataError(
                f"Numbers must be finite; {_where(reader, place)} has an infinite one. Leave the field empty instead."
            ) from None
    return contents


def _where(reader: Reader, place: int) -> str:
    return f"{reader.place} {place} of {str(reader.path)!r}"
