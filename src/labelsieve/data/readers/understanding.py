"""What there is in a user's data, found out before anything is written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.readers.base import Reader
from labelsieve.data.readers.cells import as_text, is_empty, shown
from labelsieve.data.readers.column_kinds import Column, ColumnWatch
from labelsieve.data.readers.images import BadImage, bad_images
from labelsieve.data.readers.item_stream import Choice, ids_of
from labelsieve.errors import DataError

_PREVIEW_ROWS = 3
_PREVIEW_COLUMNS = 6
_COLUMNS_SHOWN = 20
_EMPTY_IDS = 5
_BAD_IMAGES_SHOWN = 20


@dataclass(frozen=True)
class Understanding:
    """What was found. What was not looked for, since no text or image column was named, is None."""

    path: Path
    rows: int
    columns: tuple[Column, ...]
    preview: tuple[dict[str, Any], ...]
    """The first rows, cells as they are in the file."""
    id_column: str | None
    """None: ids are row numbers, from 0."""
    repeated_texts: int | None = None
    """Rows whose text, not an empty one, was there before."""
    empty_texts: int | None = None
    empty_text_ids: tuple[str, ...] = ()
    """The first few."""
    bad_images: tuple[BadImage, ...] | None = None
    """All that are missing, unreadable or outside the image root."""

    def in_words(self) -> list[str]:
        """Short lines for a terminal."""
        lines = [f"{shown(str(self.path), 200)}: {_counted(self.rows, 'row')}"]
        if self.columns:
            names = [f"{shown(column.name, 40)} ({column})" for column in self.columns[:_COLUMNS_SHOWN]]
            lines.append(f"columns: {', '.join(names)}{_and_more(len(self.columns), _COLUMNS_SHOWN)}")
        lines.append("ids: row numbers, from 0" if self.id_column is None else f"ids: column {shown(self.id_column)}")
        for number, row in enumerate(self.preview, 1):
            cells = [f"{shown(name, 40)}={shown(cell)}" for name, cell in list(row.items())[:_PREVIEW_COLUMNS]]
            if cells:
                lines.append(f"row {number}: {'; '.join(cells)}{_and_more(len(row), _PREVIEW_COLUMNS)}")
        return lines + self._texts_in_words() + self._images_in_words()

    def _texts_in_words(self) -> list[str]:
        if self.empty_texts is None or self.repeated_texts is None:
            return []
        lines = [f"texts that repeat an earlier one: {self.repeated_texts or 'none'}"]
        if not self.empty_texts:
            return [*lines, "empty texts: none"]
        ids = ", ".join(map(shown, self.empty_text_ids))
        return [*lines, f"empty texts: {self.empty_texts:,} (ids {ids}{_and_more(self.empty_texts, _EMPTY_IDS)})"]

    def _images_in_words(self) -> list[str]:
        if self.bad_images is None:
            return []
        if not self.bad_images:
            return ["images that cannot be read: none"]
        named = [f"  {shown(bad.name, 200)}: {bad.reason}" for bad in self.bad_images[:_BAD_IMAGES_SHOWN]]
        more = len(self.bad_images) - _BAD_IMAGES_SHOWN
        return [
            f"images that cannot be read: {len(self.bad_images):,}",
            *named,
            *([f"  and {more:,} more"] if more > 0 else []),
        ]


def understand(
    reader: Reader,
    *,
    text: str | None = None,
    image: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    image_root: str | os.PathLike[str] | None = None,
) -> Understanding:
    """Reads all data once, in chunks; of each text and id a hash is kept (8 bytes). Arguments as for ``items``.

    Image paths start from ``image_root``: the folder the data are in, unless told.
    """
    choice = Choice.of(reader, text=text, image=image, id=id, columns=columns, image_root=image_root)
    watches = [ColumnWatch(name) for name in reader.columns]
    preview: list[dict[str, Any]] = []
    id_hashes, text_hashes = _Hashes(), _Hashes()
    rows = empty = 0
    empty_ids: list[str] = []
    bad: list[BadImage] = []
    for chunk in reader.chunks():
        ids = ids_of(chunk, reader, choice.id, rows)
        if rows < _PREVIEW_ROWS:
            head = chunk.head(_PREVIEW_ROWS - rows)
            preview += [dict(zip(reader.columns, row, strict=True)) for row in head.itertuples(index=False, name=None)]
        for watch, name in zip(watches, reader.columns, strict=True):
            watch.see(chunk[name].tolist())
        if choice.id is not None:
            id_hashes.add(ids)
        if choice.kind == "text":
            texts = [as_text(cell) for cell in chunk[choice.columns[0]].tolist()]
            text_hashes.add([content for content in texts if not is_empty(content)])
            without = [id_ for id_, content in zip(ids, texts, strict=True) if is_empty(content)]
            empty += len(without)
            empty_ids += without[: _EMPTY_IDS - len(empty_ids)]
        if choice.kind == "image":
            bad += bad_images(choice.image_root, [as_text(cell) for cell in chunk[choice.columns[0]].tolist()])
        rows += len(chunk)
    if choice.id is not None and id_hashes.repeated():
        _refuse_repeated_ids(reader, choice.id, id_hashes.repeated())
    return Understanding(
        path=reader.path,
        rows=rows,
        columns=tuple(watch.column() for watch in watches),
        preview=tuple(preview),
        id_column=choice.id,
        repeated_texts=text_hashes.repeats() if choice.kind == "text" else None,
        empty_texts=empty if choice.kind == "text" else None,
        empty_text_ids=tuple(empty_ids),
        bad_images=tuple(bad) if choice.kind == "image" else None,
    )


class _Hashes:
    """Texts that went by, 8 bytes each."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray[Any, np.dtype[np.int64]]] = []

    def add(self, texts: list[str]) -> None:
        self._parts.append(np.fromiter(map(hash, texts), np.int64, len(texts)))

    def repeats(self) -> int:
        """How many were there before."""
        together = np.concatenate([np.empty(0, np.int64), *self._parts])
        return len(together) - len(np.unique(together))

    def repeated(self) -> set[int]:
        """The hashes that come more than once."""
        hashes, counts = np.unique(np.concatenate([np.empty(0, np.int64), *self._parts]), return_counts=True)
        return set(hashes[counts > 1].tolist())


def _refuse_repeated_ids(reader: Reader, id_column: str, hashes: set[int]) -> None:
    """Reads the ids once more: to name the places, and since different ids can have the same hash."""
    first_places: dict[str, int] = {}
    for chunk in reader.chunks([id_column]):
        for place, cell in zip(chunk.index, chunk[id_column].tolist(), strict=True):
            id_ = as_text(cell)
            if hash(id_) not in hashes:
                continue
            if id_ in first_places:
                raise DataError(
                    f"Ids must name each row once; {reader.place}s {first_places[id_]} and {place} of "
                    f"{str(reader.path)!r} have the same id {shown(id_)!r} in column {id_column!r}. Use another "
                    "column, or leave the id column out to use row numbers."
                )
            first_places[id_] = place


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _and_more(number: int, shown_of_them: int) -> str:
    return f" and {number - shown_of_them:,} more" if number > shown_of_them else ""
