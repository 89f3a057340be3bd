"""Files from the internet: resumed where they were cut off, checked, and only then given their name."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from labelsieve.errors import DataError

_CHUNK = 2**18
_TIMEOUT = 60
_STEP = 10
"""Percent between two lines of progress."""


@dataclass(frozen=True)
class Source:
    """Where a file is, and the checksum it must have; ``algorithm`` is a name that hashlib knows."""

    url: str
    algorithm: str
    checksum: str

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]


def download(source: Source, folder: Path, name: str | None = None) -> Path:
    """The file in this folder, from the internet unless it is there already."""
    path = folder / (name or source.name)
    if path.exists():
        _check(path, source)
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    try:
        _fill(partial, source.url)
    except OSError as error:  # what urllib and sockets raise
        raise DataError(
            f"{source.url} cannot be read: {error}. What has arrived is kept; run the same command to go on, or put "
            f"the file there by hand as {path}."
        ) from error
    _check(partial, source)
    partial.replace(path)
    return path


def _fill(partial: Path, url: str) -> None:
    """Get what is missing of the file."""
    have = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if have and error.code == 416:  # nothing is missing
            return
        raise
    with answer:
        resumes = answer.status == 206
        have = have if resumes else 0
        announced = answer.headers.get("Content-Length")
        total = have + int(announced) if announced else None
        with partial.open("ab" if resumes else "wb") as file:
            _copy(answer, file, url.rpartition("/")[2], have, total)
    size = partial.stat().st_size
    if total is not None and size < total:
        raise OSError(f"the connection ended after {size:,} of {total:,} bytes")


def _copy(answer: IO[bytes], file: IO[bytes], name: str, have: int, total: int | None) -> None:
    """Copy to the end, and say how far it is."""
    said = -1
    while chunk := answer.read(_CHUNK):
        file.write(chunk)
        have += len(chunk)
        percent = 100 * have // total // _STEP * _STEP if total else -1
        if percent > said:
            said = percent
            print(f"{name}: {percent} % of {total / 1e6:.1f} MB" if total else name, flush=True)


def _check(path: Path, source: Source) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, source.algorithm).hexdigest()
    if found != source.checksum:
        path.unlink()
        raise DataError(
            f"{path.name} must have the {source.algorithm} {source.checksum}; got {found}. It was removed; run the "
            f"same command to get it again from {source.url}."
        )
