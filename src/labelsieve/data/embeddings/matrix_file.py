"""The finished matrix: whole under its name, or not there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.embeddings.base import FeatureFile, disk_errors
from labelsieve.errors import DataError
from labelsieve.types import Array
from labelsieve.writing import utf8, write_atomically

_LAYOUT = "1"
"""To be raised when the same settings come to give other numbers."""


class MatrixFile:
    """A .npy file named after everything it depends on, so that what is there need not be computed again.

    It is written row by row: a file that is written through a memory map ends the whole process when the disk is full.
    """

    def __init__(self, folder: Path, kind: str, made_by: str, digests: Array) -> None:
        name = hashlib.sha256(f"{_LAYOUT} {kind} {made_by} {len(digests)} ".encode())
        name.update(np.ascontiguousarray(digests).data)
        self.path = folder / f"features-{kind}-{name.hexdigest()[:16]}.npy"
        self._words = self.path.with_suffix(".json")

    def find(self) -> FeatureFile | None:
        """The file, if an earlier run has finished it."""
        try:
            np.lib.format.open_memmap(self.path, mode="r")
            words = json.loads(self._words.read_text(encoding="utf-8"))
            return FeatureFile(self.path, list(words["parts"]), str(words["note"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(
        self,
        chunks: Iterator[Array],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        parts: list[str],
        note: str,
        wrote: Callable[[int], None],
    ) -> FeatureFile:
        """Rows in order; ``wrote`` is told how many there are after each chunk."""
        part = self.path.with_name(f".{self.path.name}.part")
        self._remove_leftovers()
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        rows = 0
        try:
            with disk_errors(self.path.parent):
                file = part.open("wb")
            with file:
                with disk_errors(self.path.parent):
                    np.lib.format.write_array_header_1_0(file, header)
                for chunk in chunks:
                    with disk_errors(self.path.parent):
                        file.write(np.ascontiguousarray(chunk, dtype=dtype).data)
                    rows += len(chunk)
                    wrote(rows)
                if rows != shape[0]:
                    raise DataError(
                        f"The data must not change while features are computed; {shape[0]} rows were announced and "
                        f"{rows} came. Start again."
                    )
                with disk_errors(self.path.parent):
                    file.flush()
                    os.fsync(file.fileno())
            with disk_errors(self.path.parent):
                write_atomically({self._words: utf8(json.dumps({"parts": parts, "note": note}, ensure_ascii=False))})
                os.replace(part, self.path)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        return FeatureFile(self.path, parts, note)

    def _remove_leftovers(self) -> None:
        """Parts of files, from processes that were killed."""
        for left in self.path.parent.glob(".features-*.part"):
            with contextlib.suppress(OSError):
                left.unlink()
