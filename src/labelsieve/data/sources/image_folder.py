"""Points that are image files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelsieve.data.sources.base import Chunks, Source
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array, Ints

_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
_CHANNELS = {"L": (), "RGB": (3,)}
"""Pillow's names for what is read: grey and colour, one byte per pixel and channel."""
_DECODERS = min(8, os.cpu_count() or 1)
_HEADERS_AT_ONCE = 4096
_SHOWN = 5
_UNREADABLE = (OSError, SyntaxError, ValueError)
"""What Pillow raises for files that are broken; SyntaxError is its word for a bad PNG."""


class Header(NamedTuple):
    """What an image file says of itself before its pixels."""

    width: int
    height: int
    mode: str

    def __str__(self) -> str:
        return f"{self.width} × {self.height} {self.mode}"


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
        header = self._common_header(names)
        self.shape = (len(names), header.height, header.width, *_CHANNELS[header.mode])
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

    def _common_header(self, names: list[str]) -> Header:
        """What stands in all headers; a few thousand are in memory at a time."""
        first: Header | None = None
        unreadable: list[str] = []
        odd: list[tuple[str, Header]] = []
        with ThreadPoolExecutor(_DECODERS) as readers:
            for start in range(0, len(names), _HEADERS_AT_ONCE):
                block = names[start : start + _HEADERS_AT_ONCE]
                for name, header in zip(block, readers.map(self._header, block), strict=True):
                    first = first or header
                    if header is None:
                        unreadable.append(name)
                    elif header != first and not odd:
                        odd.append((name, header))
        self._refuse_unreadable(unreadable)
        assert first is not None
        if first.mode not in _CHANNELS:
            raise DataError(
                f"Images must be grey or RGB (Pillow's modes L and RGB); {names[0]!r} is {first.mode}. "
                "Convert them first: image.convert('RGB')."
            )
        if odd:
            name, header = odd[0]
            raise DataError(
                f"Images must have one size and mode; {names[0]!r} is {first} and {name!r} is {header}. "
                "Resize and convert them to the same first."
            )
        return first

    def _header(self, name: str) -> Header | None:
        try:
            with _pillow().open(self._folder / name) as image:
                return Header(image.width, image.height, image.mode)
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


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ConfigurationError("Reading images needs Pillow: pip install pillow.") from error
    return Image
