"""Points that are image files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.sources.base import Chunks, Source
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array, Ints

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
_CHANNELS = {"L": (), "RGB": (3,)}
"""Pillow's names for what is read: grey and colour, one byte per pixel and channel."""
_DECODERS = min(8, os.cpu_count() or 1)
_SHOWN = 5
_UNREADABLE = (OSError, SyntaxError, ValueError)
"""What Pillow raises for files that are broken; SyntaxError is its word for a bad PNG."""


class ImageFolder(Source):
    """The images of a folder and its subfolders, in the order of their paths, which name the points.

    All must have one size and be grey or RGB. That much stands in their headers, which are all read when the folder is
    opened, before anybody is asked for a label; pixels are decoded when they are needed.
    """

    def __init__(self, path: Path) -> None:
        self._folder = path
        names = sorted(_image_paths(path))
        if not names:
            raise DataError(f"The folder {str(path)!r} must hold images ({', '.join(_SUFFIXES)}); it holds none.")
        (width, height), mode = self._common_header(names)
        self.shape = (len(names), height, width, *_CHANNELS[mode])
        self.dtype = np.dtype(np.uint8)
        self.ids = np.asarray(names)

    def _chunks(self, rows: Ints, size: int) -> Chunks:
        assert self.ids is not None
        with ThreadPoolExecutor(_DECODERS) as decoders:
            for start in range(0, len(rows), size):
                names = self.ids[rows[start : start + size]].tolist()
                chunk = np.empty((len(names), *self.shape[1:]), dtype=self.dtype)
                decoded = list(decoders.map(self._decode, names, chunk))
                self._refuse_unreadable([name for name, good in zip(names, decoded, strict=True) if not good])
                yield chunk

    def _decode(self, name: str, into: Array) -> bool:
        """Whether the image could be read."""
        try:
            with _pillow().open(self._folder / name) as image:
                into[:] = np.asarray(image)
        except _UNREADABLE:
            return False
        return True

    def _common_header(self, names: list[str]) -> tuple[tuple[int, int], str]:
        with ThreadPoolExecutor(_DECODERS) as readers:
            headers = list(readers.map(self._header, names))
        self._refuse_unreadable([name for name, header in zip(names, headers, strict=True) if header is None])
        expected = headers[0]
        assert expected is not None
        if expected[1] not in _CHANNELS:
            raise DataError(
                f"Images must be grey or RGB (Pillow's modes L and RGB); {names[0]!r} is {expected[1]}. "
                "Convert them first: image.convert('RGB')."
            )
        for name, header in zip(names, headers, strict=True):
            if header != expected:
                raise DataError(
                    f"Images must have one size and mode; {names[0]!r} is {_described(expected)} and {name!r} is "
                    f"{_described(header)}. Resize and convert them to the same first."
                )
        return expected

    def _header(self, name: str) -> tuple[tuple[int, int], str] | None:
        try:
            with _pillow().open(self._folder / name) as image:
                return image.size, image.mode
        except _UNREADABLE:
            return None

    def _refuse_unreadable(self, names: list[str]) -> None:
        if names:
            shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            raise DataError(
                f"Every image of the folder {str(self._folder)!r} must be readable; {len(names)} are not: {shown}. "
                "Repair them or take them out."
            )


def _image_paths(folder: Path) -> Iterator[str]:
    """Relative to the folder, with forward slashes on every system; hidden files are no images."""
    for path in folder.rglob("*"):
        if path.suffix.lower() in _SUFFIXES and not path.name.startswith(".") and path.is_file():
            yield path.relative_to(folder).as_posix()


def _described(header: Any) -> str:
    (width, height), mode = header
    return f"{width} × {height} {mode}"


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ConfigurationError("Reading images needs Pillow: pip install pillow.") from error
    return Image
