"""Numbers in NumPy's files: features that are there already."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.readers.base import Block, Reader
from labelsieve.errors import DataError
from labelsieve.types import Array

_FEATURE_NAMES = ("x", "X", "features", "arr_0")
_IDS = "ids"
_LOCAL_HEADER_BYTES = 30
"""Of a file in a zip archive, before its name."""
_NOT_READABLE = (ValueError, OSError, EOFError, zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError)


class ArrayReader(Reader):
    """One row per point; the only column is ``id``, and that only if the archive holds an array ``ids``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = len(features(path))
        self._ids = _ids_of(path, self._rows)
        self.columns = [] if self._ids is None else ["id"]
        self.id_column = None if self._ids is None else "id"

    def _blocks(self, columns: list[str], size: int) -> Iterator[Block]:
        for start in range(0, self._rows, size):
            end = min(start + size, self._rows)
            cells = [] if self._ids is None else [self._ids[start:end].tolist()]
            yield Block(cells[: len(columns)], range(start + 1, end + 1))


def features(path: str | os.PathLike[str]) -> Array:
    """The points (n, d), or images (n, height, width[, channels]), mapped into memory unless they are compressed.

    In a .npz the array named x, X, features or arr_0. Pickled objects, which could run code, are never loaded.
    """
    path = Path(path)
    try:
        array = _archived(path) if path.suffix.lower() == ".npz" else np.lib.format.open_memmap(path, mode="r")
    except _NOT_READABLE as error:
        raise DataError(
            f"{str(path)!r} must be an array of numbers written by np.save or np.savez; it cannot be read: {error}"
        ) from error
    if array.dtype.kind not in "buif" or array.ndim not in (2, 3, 4) or 0 in array.shape:
        raise DataError(
            f"{str(path)!r} must hold numbers of shape (n, d), or images of shape (n, height, width) or "
            f"(n, height, width, channels); it holds {array.dtype} of shape {array.shape}."
        )
    return array


def _archived(path: Path) -> Array:
    with zipfile.ZipFile(path) as archive:
        held = [name.removesuffix(".npy") for name in archive.namelist()]
        name = next((name for name in _FEATURE_NAMES if name in held), None)
        if name is None:
            raise DataError(
                f"{str(path)!r} must hold an array named {', '.join(_FEATURE_NAMES[:-1])} or {_FEATURE_NAMES[-1]}; "
                f"it holds {', '.join(map(repr, held)) or 'none'}. Save it as np.savez(path, x=…, ids=…)."
            )
        info = archive.getinfo(f"{name}.npy")
    if info.compress_type == zipfile.ZIP_STORED:
        return _mapped(path, info.header_offset)
    with np.load(path, allow_pickle=False) as arrays:
        return np.asarray(arrays[name])


def _mapped(path: Path, header_offset: int) -> Array:
    """An array that lies in the archive as it is. The lengths in the directory may differ from those at the place."""
    with open(path, "rb") as file:
        file.seek(header_offset)
        header = file.read(_LOCAL_HEADER_BYTES)
        name_length, extra_length = (int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        file.seek(name_length + extra_length, os.SEEK_CUR)
        version = np.lib.format.read_magic(file)
        read_header: Any = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read_header(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects, which are not loaded")
        if 0 in shape:
            return np.empty(shape, dtype)
        return np.memmap(file, dtype, "r", file.tell(), shape, order="F" if fortran else "C")


def _ids_of(path: Path, rows: int) -> Array | None:
    if path.suffix.lower() != ".npz":
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if _IDS not in arrays:
                return None
            ids: Array = arrays[_IDS]
    except _NOT_READABLE as error:
        raise DataError(
            f"The array {_IDS!r} of {str(path)!r} must hold texts or whole numbers; it cannot be read: {error}. "
            "Save it as np.asarray(ids, dtype=str)."
        ) from error
    if ids.shape != (rows,) or ids.dtype.kind not in "iuU":
        raise DataError(
            f"The array {_IDS!r} of {str(path)!r} must hold a text or a whole number for each of the {rows:,} points; "
            f"it holds {ids.dtype} of shape {ids.shape}."
        )
    return ids
