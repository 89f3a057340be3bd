"""CSV: UTF-8, a header, texts in quotes, nothing between the commas where a value is missing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.csv

from labelsieve.exports.columns import Layout
from labelsieve.exports.replacing import replacing_file


def write_csv(path: Path, layout: Layout, tables: Iterable[Any]) -> None:
    """Texts are quoted, so that an empty one (``""``) can be told from a missing one; none is changed."""
    with replacing_file(path) as file, pyarrow.csv.CSVWriter(file, layout.schema) as writer:
        for table in tables:
            writer.write_table(table)
