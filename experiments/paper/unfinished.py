"""What runs that were cut off had done: they go on from there, as if nothing had happened."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import labelsieve as ls


class Unfinished:
    """A folder with one file per run that has not ended: the entries of its ledger, as they came.

    Only runs of this version of the package go on: others may have done what is there in other ways.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ledger(self, key: str) -> ls.Ledger:
        """Of the run with this key: empty, or as far as it had come; what is added is written down."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        entries = [entry for together in _read(path) for entry in together]
        return ls.Ledger(entries, keep=partial(_write, path))

    def forget(self, keys: Iterable[str]) -> None:
        """Of runs whose results are stored."""
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}-{ls.__version__}.ledger"


def _write(path: Path, entries: tuple[Any, ...]) -> None:
    with path.open("ab") as file:
        file.write(pickle.dumps(entries))


def _read(path: Path) -> Iterator[tuple[Any, ...]]:
    """Entries that were added together; what was cut off while it was written is cut off for good."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        while True:
            whole = file.tell()
            try:
                yield pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                file.truncate(whole)
                return
