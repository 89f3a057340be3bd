"""Results of expensive work on single items, kept by the digest of the item, in a file that is only appended to.

A file has a line that says whose results these are, and then records of one size: digest, how many records of the same
append follow, checksum, values. An append that was cut off anywhere is taken off when the file is opened next: not only
half a record but all of that append, so that the items left to do are those that would have been done together.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.embeddings.base import disk_errors
from labelsieve.types import Array, Bools, Ints

CACHE_FILES = "items-*.cache"
_READ_BYTES = 16 * 2**20


class RecordCache:
    """Values of one shape and type, by digest. One process at a time may have it open."""

    def __init__(self, folder: Path, identity: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        header = {"labelsieve": "features of single items", "by": identity, "shape": shape, "dtype": dtype.str}
        self._header = json.dumps(header).encode() + b"\n"
        self._record = np.dtype(
            [("digest", "V32"), ("following", "<u4"), ("checksum", "<u4"), ("values", dtype.newbyteorder("<"), shape)]
        )
        self._folder = folder
        self.path = folder / CACHE_FILES.replace("*", hashlib.sha256(self._header).hexdigest()[:16])
        with disk_errors(folder):
            self._open()

    def _open(self) -> None:
        """Read the digests, and take off what was not written to its end."""
        if not self._is_ours():
            self.path.write_bytes(self._header)
        n_records = (self.path.stat().st_size - len(self._header)) // self._record.itemsize
        digests, sound, whole_appends = [], [], 0
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            at_once = max(1, _READ_BYTES // self._record.itemsize)
            for start in range(0, n_records, at_once):
                records = np.fromfile(file, self._record, min(at_once, n_records - start))
                digests.append(_as_keys(records["digest"]))
                sound.append(_checksums(records) == records["checksum"])
                ends = np.flatnonzero((records["following"] == 0) & sound[-1])
                whole_appends = start + int(ends[-1]) + 1 if len(ends) else whole_appends
        os.truncate(self.path, len(self._header) + whole_appends * self._record.itemsize)
        keys = np.concatenate(digests)[:whole_appends] if digests else np.empty(0, dtype="S32")
        places = np.flatnonzero(np.concatenate(sound)[:whole_appends]) if sound else np.empty(0, dtype=np.int64)
        self._n_records = whole_appends
        self._keys, self._places = np.empty(0, dtype="S32"), np.empty(0, dtype=np.int64)
        self._unsorted: list[tuple[Array, Ints]] = [(keys[places], places)]

    def _is_ours(self) -> bool:
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            return file.read(len(self._header)) == self._header

    def _sort(self) -> None:
        """Only when something is looked up, not at every append."""
        if self._unsorted:
            keys = np.concatenate([self._keys, *(keys for keys, _ in self._unsorted)])
            places = np.concatenate([self._places, *(places for _, places in self._unsorted)])
            order = np.argsort(keys, kind="stable")
            self._keys, self._places = keys[order], places[order]
            self._unsorted = []

    def has(self, digests: Array) -> Bools:
        """Which of these digests, (n, 32) bytes, are there."""
        self._sort()
        keys = _as_keys(digests)
        if not len(self._keys):
            return np.zeros(len(keys), dtype=bool)
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.asarray(self._keys[found] == keys)

    def append(self, digests: Array, values: Array) -> None:
        """Keep the values of these items; on return they are on the disk."""
        records = np.zeros(len(digests), dtype=self._record)
        records["digest"] = np.ascontiguousarray(digests).view("V32")[:, 0]
        records["following"] = np.arange(len(digests))[::-1]
        records["values"] = values
        records["checksum"] = _checksums(records)
        with disk_errors(self._folder), self.path.open("ab", buffering=0) as file:
            _write_all(file, records.tobytes())
        self._unsorted.append((_as_keys(digests), self._n_records + np.arange(len(digests))))
        self._n_records += len(digests)

    def take(self, digests: Array) -> Array:
        """The values of these items, all of which must be there."""
        self._sort()
        places = self._places[np.searchsorted(self._keys, _as_keys(digests))]
        wanted, back = np.unique(places, return_inverse=True)
        values = np.empty((len(wanted), *self._record["values"].shape), self._record["values"].base)
        with disk_errors(self._folder), self.path.open("rb") as file:
            for run in np.split(np.arange(len(wanted)), np.flatnonzero(np.diff(wanted) != 1) + 1):
                if len(run):
                    file.seek(len(self._header) + int(wanted[run[0]]) * self._record.itemsize)
                    values[run] = np.fromfile(file, self._record, len(run))["values"]
        return values[back]


def _write_all(file: FileIO, content: bytes) -> None:
    """To the end and onto the disk, or the file stays as it was."""
    before = file.tell()
    rest = memoryview(content)
    try:
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    except OSError:
        file.truncate(before)
        raise


def _as_keys(digests: Array) -> Array:
    """Digests that numpy can sort; it takes bytes of one length for strings."""
    return np.ascontiguousarray(digests).view("S32").reshape(-1)


def _checksums(records: Array) -> Array:
    return np.fromiter(
        (
            zlib.crc32(values, zlib.crc32(digest))
            for digest, values in zip(records["digest"].tolist(), np.ascontiguousarray(records["values"]), strict=True)
        ),
        dtype=np.uint32,
        count=len(records),
    )
