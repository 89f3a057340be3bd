"""Where the points of a pool are kept: one file per kind of place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from labelsieve.data.sources.base import Source
from labelsieve.errors import DataError


def as_source(data: Any, name: str) -> Source:
    """An array as it is, or the file or folder at a path. What is not used is not imported."""
    if not isinstance(data, (str, os.PathLike)):
        from labelsieve.data.sources.array import ArraySource

        return ArraySource(data, name)
    path = Path(data)
    if not path.exists():
        raise DataError(f"The {name} must be at a path that exists; there is nothing at {str(path)!r}.")
    if path.is_dir():
        from labelsieve.data.sources.image_folder import ImageFolder

        return ImageFolder(path)
    if path.suffix == ".npy":
        from labelsieve.data.sources.npy_file import NpyFile

        return NpyFile(path)
    if path.suffix in (".parquet", ".pq"):
        from labelsieve.data.sources.parquet_file import ParquetFile

        return ParquetFile(path)
    raise DataError(
        f"The {name} must be an array, a .npy file, a .parquet file or a folder of images; got {str(path)!r}. "
        "Read the file yourself and give the array, or save it as .npy with np.save."
    )
