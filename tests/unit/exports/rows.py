"""Rows to export, and reading each format back with a reader that is not ours."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from labelsieve.exports import COLUMNS

CLASSES = ["cat", "dog"]

HUMAN = {"id": "007", "label": "cat", "source": "human", "annotator": "ana", "round": 1}
MACHINE = {"id": "=1+1", "label": "dog", "source": "machine", "round": 2, "confidence": 0.1 + 0.2, "threshold": 1 / 3}
UNLABELLED = {"id": " 3 "}
ROWS = [
    HUMAN | {"content": "a text"},
    MACHINE | {"model": "f00d", "content": 'She said "no",\n<b>עברית</b> 🙂'},
    UNLABELLED | {"content": "@SUM(A1)"},
]

ODD_TEXTS = st.one_of(
    st.text(),
    st.text(
        alphabet=st.sampled_from(list(" ,;\t\r\n\"'\\=+-@<>&{}[]0\x00\x1c\x85\u2028\u2029\u202e\ufeffשע🙂👩‍👧")),
        max_size=12,
    ),
    st.sampled_from(["", "NA", "null", "NaN", "None", "<script>alert(1)</script>", "مرحبا", "e\u0301", "a" * 5000]),
)


def chunk(rows: list[dict[str, Any]], *, content: bool = True) -> pd.DataFrame:
    names = [*COLUMNS, "content"] if content else list(COLUMNS)
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in names})


def full(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row.get(name) for name in (*COLUMNS, "content")} for row in rows]


def from_csv(path: Path) -> list[dict[str, Any]]:
    """Python's reader, which cannot tell "" from nothing."""
    readers = {"round": int, "confidence": float, "threshold": float}
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {name: readers.get(name, str)(cell) if cell else None for name, cell in row.items()}
            for row in csv.DictReader(file)
        ]


def from_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def from_parquet(path: Path) -> list[dict[str, Any]]:
    return pq.read_table(path).to_pylist()


def from_hugging_face(path: Path) -> list[dict[str, Any]]:
    names = json.loads((path / "dataset_info.json").read_text())["features"]["label"]["names"]
    data_file = json.loads((path / "state.json").read_text())["_data_files"][0]["filename"]
    with pa.ipc.open_stream(path / data_file) as stream:
        rows = stream.read_all().to_pylist()
    return [row | {"label": None if row["label"] is None else names[row["label"]]} for row in rows]


READERS = {"csv": from_csv, "jsonl": from_jsonl, "parquet": from_parquet, "hugging-face": from_hugging_face}


def failing(rows: list[dict[str, Any]], error: BaseException) -> Iterator[pd.DataFrame]:
    yield chunk(rows)
    raise error
