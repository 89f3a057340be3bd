"""Image files: what is in them, found out once per file, and their pixels."""

from __future__ import annotations

import hashlib
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.embeddings.base import Contents, Progress, needed_module, refuse_other_length
from labelsieve.data.embeddings.record_cache import RecordCache
from labelsieve.errors import DataError
from labelsieve.types import Array

_GREY = ("1", "L", "LA", "I", "I;16", "I;16B", "I;16L", "F")
"""Pillow's names for images without colour."""
_FACTS = np.dtype([("digest", "V32"), ("width", "<u4"), ("height", "<u4"), ("colour", "u1")])
_SETTLED_SECONDS = 5
"""A file younger than this may change again without its time of change moving."""
_FILES_AT_ONCE = 200
_SHOWN = 5


class ImageFiles:
    """The files behind paths, all of them readable; paths stay inside ``root`` if there is one."""

    def __init__(self, contents: Contents, root: Path | None, folder: Path, progress: Progress) -> None:
        self._root = None if root is None else os.path.abspath(root)
        self._known = RecordCache(folder, "what is in image files, 1", (_FACTS.itemsize,), np.dtype(np.uint8))
        self._unreadable: list[str] = []
        facts = np.zeros(len(contents), dtype=_FACTS)
        row = 0
        for chunk in contents.chunks(size=_FILES_AT_ONCE):
            refuse_other_length(row + len(chunk), len(contents), at_end=False)
            facts[row : row + len(chunk)] = self._facts(chunk)
            row += len(chunk)
            progress("looking at image files", row, len(contents))
        refuse_other_length(row, len(contents), at_end=True)
        if self._unreadable:
            shown = ", ".join(self._unreadable[:_SHOWN]) + (", …" if len(self._unreadable) > _SHOWN else "")
            raise DataError(
                f"Every image must be readable; {len(self._unreadable)} of {len(contents)} are not: {shown}. "
                "Repair them or take them out."
            )
        self.digests = np.ascontiguousarray(facts["digest"]).view(np.uint8).reshape(-1, 32)
        self.sizes = sorted({(int(w), int(h)) for w, h in np.unique(facts[["width", "height"]]).tolist()})
        self.in_colour = bool(facts["colour"].any())

    def read(self, name: str) -> bytes:
        """What is in the file."""
        try:
            return self._path(name).read_bytes()
        except OSError as error:
            raise DataError(f"Every image must be readable; for {name!r} the system says: {error.strerror}.") from error

    def _path(self, name: str) -> Path:
        if self._root is None:
            return Path(name)
        path = os.path.normpath(os.path.join(self._root, name))
        if os.path.commonpath([self._root, path]) != self._root:
            raise DataError(
                f"Images must lie in {self._root!r}; {name!r} leads out of it. Move the file, or name another folder."
            )
        return Path(path)

    def _facts(self, names: list[str]) -> Array:
        """From what is known about a file with this path, size and time of change, or from the file."""
        facts = np.zeros(len(names), dtype=_FACTS)
        as_bytes = facts.view(np.uint8).reshape(len(names), -1)
        states, settled = self._states(names)
        known = self._known.has(states) & settled
        if known.any():
            as_bytes[known] = self._known.take(states[known])
        new = np.flatnonzero(~known)
        found = np.fromiter((self._look(names[place], facts, place) for place in new.tolist()), dtype=np.bool_)
        to_keep = new[found & settled[new]]
        if len(to_keep):
            self._known.append(states[to_keep], as_bytes[to_keep])
        return facts

    def _states(self, names: list[str]) -> tuple[Array, Array]:
        """A digest of what the file system says about each file, and whether that can be relied upon."""
        states = np.zeros((len(names), 32), dtype=np.uint8)
        settled = np.zeros(len(names), dtype=bool)
        now = time.time()
        for place, name in enumerate(names):
            path = self._path(name)
            try:
                said = path.stat()
            except (OSError, ValueError):
                continue
            state = f"{said.st_size} {said.st_mtime_ns} {said.st_ino} {os.path.abspath(path)}"
            states[place] = np.frombuffer(
                hashlib.sha256(state.encode(errors="surrogateescape")).digest(), dtype=np.uint8
            )
            settled[place] = said.st_mtime < now - _SETTLED_SECONDS
        return states, settled

    def _look(self, name: str, facts: Array, place: int) -> bool:
        """Whether it is an image; its pixels are decoded later."""
        try:
            content = self._path(name).read_bytes()
            with open_image(content) as image:
                facts[place] = (
                    np.void(hashlib.sha256(content).digest()), image.width, image.height, image.mode not in _GREY
                )  # fmt: skip
        except unreadable():
            self._unreadable.append(name)
            return False
        return True


def open_image(content: bytes) -> Any:
    """A Pillow image, not yet decoded."""
    return _pillow().open(io.BytesIO(content))


def pixels_of(image: Any, *, in_colour: bool) -> Array:
    """(h, w) or (h, w, 3), one byte each; sixteen bits of grey lose the lower eight."""
    if image.mode.startswith("I;16"):
        image = _pillow().fromarray((np.asarray(image) >> 8).astype(np.uint8))
    return np.asarray(image.convert("RGB" if in_colour else "L"))


def upright_image(content: bytes) -> Any:
    """A Pillow image in colour, turned as its camera was held."""
    with readable_image(content) as image:
        turned = needed_module("PIL.ImageOps", "Reading images", "pip install pillow").exif_transpose(image)
        return _pillow().fromarray(pixels_of(turned, in_colour=True))


@contextmanager
def readable_image(content: bytes) -> Iterator[Any]:
    """A file whose header was found good, and which may be broken behind it."""
    try:
        with open_image(content) as image:
            yield image
    except unreadable() as error:
        raise DataError(f"Every image must be readable; one is cut off or broken: {error}. Take it out.") from error


def unreadable() -> tuple[type[Exception], ...]:
    """What Pillow raises for files that are broken, or far too large; SyntaxError is its word for a bad PNG."""
    return (OSError, SyntaxError, ValueError, _pillow().DecompressionBombError)


def _pillow() -> Any:
    return needed_module("PIL.Image", "Reading images", "pip install pillow")
