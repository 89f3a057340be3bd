"""Images in a folder and its sub-folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from labelsieve.data.readers.base import Block, Reader
from labelsieve.data.readers.images import IMAGE_SUFFIXES
from labelsieve.errors import DataError


class ImageFolderReader(Reader):
    """One row per image file, in the order of their paths: ``path`` from the folder on, and ``folder``, the part of it
    that names the sub-folder ("" for files in the folder itself).

    Hidden files and folders are left out. Links to folders are not entered, and links to files count only if the file
    lies inside.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns = ["path", "folder"]
        self.id_column = self.image_column = "path"
        if next(self._names(), None) is None:
            raise DataError(
                f"The folder {str(path)!r} must hold images ({', '.join(IMAGE_SUFFIXES)}), or be a Hugging Face "
                "dataset saved with save_to_disk; it is neither. For a table, give the file itself."
            )

    def _blocks(self, columns: list[str], size: int) -> Iterator[Block]:
        names, seen = self._names(), 0
        while block := list(islice(names, size)):
            cells = {"path": block, "folder": [name.rpartition("/")[0] for name in block]}
            yield Block([cells[column] for column in columns], range(seen + 1, seen + len(block) + 1))
            seen += len(block)

    def _names(self) -> Iterator[str]:
        return _images_in(os.path.realpath(self.path), "")


def _images_in(root: str, folder: str) -> Iterator[str]:
    """A folder sorts as its name with a slash: then going down gives the order of the whole paths."""
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            found = sorted(
                f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                for entry in entries
                if not entry.name.startswith(".")
            )
    except OSError as error:
        raise DataError(f"The folder {os.path.join(root, folder)!r} must be readable: {error.strerror}.") from error
    for name in found:
        path = folder + name
        if name.endswith("/"):
            yield from _images_in(root, path)
        elif name.lower().endswith(IMAGE_SUFFIXES) and _lies_inside(root, path):
            _refuse_undecodable(root, path)
            yield path


def _lies_inside(root: str, path: str) -> bool:
    target = os.path.join(root, path)
    if os.path.islink(target):
        target = os.path.realpath(target)
        if os.path.commonpath([root, target]) != root:
            return False
    return os.path.isfile(target)


def _refuse_undecodable(root: str, path: str) -> None:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(
            f"File names must be UTF-8, so that they can be stored and shown; {os.fsencode(path)!r} in {root!r} is "
            "not. Rename the file, or all of them: convmv -r -f latin1 -t utf8 --notest FOLDER."
        ) from None
