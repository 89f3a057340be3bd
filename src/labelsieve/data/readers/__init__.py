"""From a user's file or folder to rows of items: one file per kind."""

from __future__ import annotations

import os
from pathlib import Path

from labelsieve.data.readers.base import Reader
from labelsieve.data.readers.item_stream import items
from labelsieve.data.readers.understanding import Understanding, understand
from labelsieve.errors import DataError

__all__ = ["Reader", "Understanding", "items", "open_data", "understand"]

_TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
_KNOWN = (
    "a table (.csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .pq), an array (.npy, .npz), a folder of images, "
    "or a Hugging Face dataset saved with save_to_disk"
)


def open_data(path: str | os.PathLike[str], *, encoding: str | None = None) -> Reader:
    """The reader for a file, by its suffix, or for a folder, by what is in it.

    ``encoding`` is for text files; without it they are UTF-8, or what their byte order mark says.
    """
    path = Path(path)
    if not path.exists():
        raise DataError(f"The data must be at a path that exists; there is nothing at {str(path)!r}.")
    suffix = path.suffix.lower()
    if encoding is not None and (path.is_dir() or suffix not in _TEXT_SUFFIXES):
        raise DataError(
            f"An encoding is for text files ({', '.join(_TEXT_SUFFIXES)}); {str(path)!r} is none. "
            "Leave the encoding out."
        )
    try:
        return _folder(path) if path.is_dir() else _file(path, suffix, encoding)
    except PermissionError as error:
        raise DataError(f"The data must be readable; {str(path)!r} is not: {error.strerror}.") from error


def _file(path: Path, suffix: str, encoding: str | None) -> Reader:
    """What is not used is not imported."""
    if suffix in (".csv", ".tsv", ".txt"):
        from labelsieve.data.readers.csv import CsvReader

        return CsvReader(path, encoding)
    if suffix in (".jsonl", ".ndjson"):
        from labelsieve.data.readers.jsonl import JsonLinesReader

        return JsonLinesReader(path, encoding)
    if suffix in (".parquet", ".pq"):
        from labelsieve.data.readers.parquet import ParquetReader

        return ParquetReader(path)
    if suffix in (".npy", ".npz"):
        from labelsieve.data.readers.arrays import ArrayReader

        return ArrayReader(path)
    hint = " Save the sheet as CSV in UTF-8." if suffix in (".xls", ".xlsx", ".ods") else ""
    raise DataError(f"The data must be {_KNOWN}; got {str(path)!r}.{hint}")


def _folder(path: Path) -> Reader:
    from labelsieve.data.readers import hugging_face

    if hugging_face.is_dataset(path):
        return hugging_face.HuggingFaceReader(path)
    from labelsieve.data.readers.image_folder import ImageFolderReader

    return ImageFolderReader(path)
