"""Large files and folders that are whole or not there, written piece by piece."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from labelsieve.errors import ConfigurationError
from labelsieve.writing import naming


@contextmanager
def replacing_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of ``path`` at the end, and leaves no trace if that is not reached."""
    path = _real(path)
    if path.exists() and not path.is_file():
        raise ConfigurationError(f"The file to write must be a new one or replace a file; {path} is something else.")
    part = _beside(path, "part")
    with naming(path):
        try:
            with part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, signs: Collection[str]) -> Iterator[Path]:
    """A folder to fill that takes the place of ``path`` at the end.

    A folder that is there already is replaced only if it is empty or has files of all these names in it, by which it is
    known for an earlier export. It is moved aside for the moment of the exchange: a crash then leaves both, whole.
    """
    path = _real(path)
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or all((path / s).is_file() for s in signs))):
        raise ConfigurationError(
            f"The folder to write must be new, empty or an earlier export, with {' and '.join(signs)} in it; "
            f"{path} is none of these. Name another, or move it away."
        )
    part, aside = _beside(path, "part"), _beside(path, "old")
    with naming(path):
        try:
            part.mkdir()
            yield part
            if path.exists():
                os.rename(path, aside)
            try:
                os.rename(part, path)
            except OSError:
                if aside.exists():
                    os.rename(aside, path)
                raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(aside, ignore_errors=True)


def _real(path: Path) -> Path:
    """What a link points to is replaced, not the link."""
    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise ConfigurationError(f"An export is written into a folder that is there; {path.parent} is none.")
    return path


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.{suffix}")
