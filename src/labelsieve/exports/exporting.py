"""Writing an export in one of the formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from labelsieve.errors import ConfigurationError, UnknownMethodError
from labelsieve.exports.columns import Kind, Layout, opened
from labelsieve.exports.csv_file import write_csv
from labelsieve.exports.hugging_face import write_hugging_face
from labelsieve.exports.jsonl_file import write_jsonl
from labelsieve.exports.label_studio import write_label_studio
from labelsieve.exports.parquet_file import write_parquet
from labelsieve.types import Label

Writer: TypeAlias = Callable[[Path, Layout, Iterable[Any]], None]

_WRITERS: dict[str, Writer] = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "hugging-face": write_hugging_face,
    "label-studio": write_label_studio,
}
FORMATS = tuple(_WRITERS)
_SUFFIXES = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "label-studio",
}


def format_for(path: Path, wanted: str | None) -> str:
    """The format that was named, or else the one that the suffix of the file stands for."""
    meant = _SUFFIXES.get(path.suffix.lower())
    if wanted is None and meant is None:
        raise ConfigurationError(
            f"The name of an export must end in {', '.join(_SUFFIXES)}, or its format be named; got {path}. Give "
            f"--format, one of {', '.join(FORMATS)}."
        )
    if wanted is not None and meant not in (None, wanted):
        raise ConfigurationError(
            f"The name of an export must fit its format; {path} reads like {meant}, and the format is {wanted}. Choose "
            "another name, or leave --format out."
        )
    return wanted or str(meant)


def write_export(
    chunks: Iterable[pd.DataFrame],
    path: Path,
    format: str,
    *,
    classes: Sequence[Label],
    kind: Kind,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write labels, a chunk in memory at a time; returns the number of rows.

    Each chunk has the columns ``COLUMNS`` and, if the first has it, ``content``. What was at ``path`` is replaced when
    all is written, not before. ``progress`` is called with the number of rows so far.
    """
    if format not in _WRITERS:
        raise UnknownMethodError(f"format must be one of {', '.join(map(repr, FORMATS))}; got {format!r}.")
    layout, tables = opened(chunks, classes, kind)
    counter = _Counter(progress)
    _WRITERS[format](Path(path), layout, counter.counted(tables))
    return counter.rows


class _Counter:
    def __init__(self, progress: Callable[[int], None] | None) -> None:
        self.rows = 0
        self._progress = progress

    def counted(self, tables: Iterable[Any]) -> Iterator[Any]:
        for table in tables:
            yield table
            self.rows += len(table)
            if self._progress is not None:
                self._progress(self.rows)
