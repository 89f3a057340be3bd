"""Points in a .npy file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.sources.array import copied_chunks
from labelsieve.data.sources.base import Chunks, Source
from labelsieve.errors import DataError
from labelsieve.types import Ints


class NpyFile(Source):
    """An array written by ``np.save``, read in pieces."""

    def __init__(self, path: Path) -> None:
        self._path = path
        mapped = self._mapped()
        self.shape, self.dtype = mapped.shape, mapped.dtype.newbyteorder("=")

    def _chunks(self, rows: Ints, size: int) -> Chunks:
        mapped = self._mapped()
        if mapped.shape != self.shape or mapped.dtype.newbyteorder("=") != self.dtype:
            raise DataError(
                f"{str(self._path)!r} must not change while it is in use; it held {self.dtype} of shape {self.shape} "
                f"and now holds {mapped.dtype} of shape {mapped.shape}."
            )
        yield from copied_chunks(mapped, rows, size)

    def _mapped(self) -> np.memmap[Any, Any]:
        """Refuses pickled objects, which could run code, and files that are shorter than they say."""
        try:
            return np.lib.format.open_memmap(self._path, mode="r")
        except (ValueError, OSError) as error:
            raise DataError(
                f"{str(self._path)!r} must be an array of numbers written by np.save; it cannot be read: {error}"
            ) from error
