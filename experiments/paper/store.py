"""Results on disk: one JSON line per result, one file per kind and dataset, each line with a key of its own.

Lines are added as results come, also by several processes at once; a line that was cut off is not read.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
RUNS, AGAIN = "runs", "again"
"""Kinds: runs of the table and of sweeps; runs of the table once more, from nothing, or as they were before, to be
compared."""
Record = dict[str, Any]


def key_of(configuration: Mapping[str, Any]) -> str:
    """Hash of everything a result depends on."""
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()[:16]


def key_again(key: str, device: str, version: str) -> str:
    """Of a run with this key in the table, on another machine or by another version: all of them are kept."""
    return key_of({AGAIN: key, "device": device, "version": version})


def is_same_run(one: Record, other: Record) -> bool:
    """Whether two records are of one run, and not of two runs with the same settings, which ended at other times."""
    return all(one.get(name) == other.get(name) for name in (one.keys() | other.keys()) - {"key"})


def numbers_of(version: str) -> tuple[int, ...]:
    """Of a version, so that 0.10 comes after 0.9."""
    return tuple(int(number) for number in version.split("."))


class Store:
    """Files are ``<kind>/<dataset>.jsonl``; a kind is ``RUNS``, ``AGAIN``, ``"searches"`` or the name of a single
    experiment."""

    def __init__(self, folder: Path = RESULTS) -> None:
        self.folder = Path(folder)

    def read(self, kind: str, dataset: str) -> list[Record]:
        """All records in the order in which they came; of those with one key, the last."""
        path = self._path(kind, dataset)
        if not path.exists():
            return []
        records: dict[str, Record] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            records[record["key"]] = record
        return list(records.values())

    def add(self, kind: str, dataset: str, records: Iterable[Mapping[str, Any]]) -> None:
        """Append; other processes wait meanwhile."""
        path = self._path(kind, dataset)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
        with path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0, 2)
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":  # an earlier process was killed while it wrote
                    file.write(b"\n")
            file.write(lines.encode())

    def gather(self, other: Store) -> int:
        """Take over what another store has and this one has not; returns how many records."""
        taken = 0
        for path in sorted(other.folder.glob("*/*.jsonl")):
            kind, dataset = path.parent.name, path.stem
            known = {record["key"] for record in self.read(kind, dataset)}
            new = [record for record in other.read(kind, dataset) if record["key"] not in known]
            if new:
                self.add(kind, dataset, new)
            taken += len(new)
        return taken

    def _path(self, kind: str, dataset: str) -> Path:
        return self.folder / kind / f"{dataset}.jsonl"
