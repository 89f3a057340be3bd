"""Whether images are there, lie where they may, and can be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

IMAGE_SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
_DECODERS = min(8, os.cpu_count() or 1)


class BadImage(NamedTuple):
    """An image that cannot be used, as the data name it, and why."""

    name: str
    reason: str


def relative_name(absolute_root: str, name: str) -> str | None:
    """The path from the root on, with forward slashes and without detours; None if it leads out of the root.

    Only the spelling is looked at, not the disk.
    """
    whole = os.path.normpath(os.path.join(absolute_root, name))
    prefix = absolute_root.rstrip(os.sep) + os.sep
    return whole.removeprefix(prefix).replace(os.sep, "/") if whole.startswith(prefix) else None


def file_inside(root: Path, name: str) -> Path | None:
    """The file, wherever links lead; None if that is not inside the root."""
    if "\0" in name:
        return None
    real_root, target = Path(os.path.realpath(root)), Path(os.path.realpath(root / name))
    return target if real_root in target.parents else None


def bad_images(root: Path, names: Sequence[str]) -> Iterator[BadImage]:
    """Those that cannot be used, in order. Pixels are decoded: a file that was cut off has a good header."""
    with ThreadPoolExecutor(_DECODERS) as decoders:
        for name, reason in zip(names, decoders.map(lambda name: _trouble(root, name), names), strict=True):
            if reason:
                yield BadImage(name, reason)


def _trouble(root: Path, name: str) -> str | None:
    from PIL import Image

    if not name or name.isspace():
        return "no path given"
    try:
        file = file_inside(root, name)
        if file is None:
            return "leads out of the folder of the images"
        if not file.is_file():
            return "missing"
        with Image.open(file) as image:
            image.draft(None, (image.width // 8, image.height // 8))  # JPEG can be decoded smaller, which is faster
            image.load()
    except Image.DecompressionBombError:
        return "too many pixels"
    except PermissionError:
        return "no permission to read it"
    except Exception:  # Pillow raises whatever a broken file provokes: OSError, SyntaxError, struct.error, …
        return "not a readable image"
    return None
