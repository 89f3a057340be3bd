"""Files that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write_atomically(contents: Mapping[Path, bytes]) -> None:
    """Readers see old files or new ones, never a part of one; if the disk is full, all old ones stay."""
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in contents}
    try:
        for path, content in contents.items():
            with naming(path):
                temporary[path].write_bytes(content)
        for path in contents:
            with naming(path):
                os.replace(temporary[path], path)
    finally:
        for part in temporary.values():
            part.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """What the system cannot do inside, it says of this file: not of the part it is written to first, or, when the disk
    is full, of none."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error


def utf8(text: str) -> bytes:
    """Names from file systems may hold what UTF-8 cannot; it is spelled out rather than lost."""
    return text.encode("utf-8", errors="backslashreplace")
