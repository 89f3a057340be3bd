"""Parquet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet

from labelsieve.exports.columns import Layout, gathered
from labelsieve.exports.replacing import replacing_file


def write_parquet(path: Path, layout: Layout, tables: Iterable[Any]) -> None:
    with replacing_file(path) as file, pyarrow.parquet.ParquetWriter(file, layout.schema) as writer:
        for table in gathered(tables):
            writer.write_table(table)
