"""Label Studio's JSON: a list of tasks, human labels as annotations and machine labels as predictions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from labelsieve.errors import DataError
from labelsieve.exports.columns import CONTENT, Layout
from labelsieve.exports.label_studio_config import DATA_KEYS, ITEM_ID, ITEM_NAME, LABEL_NAME
from labelsieve.exports.replacing import replacing_file

_TASKS_AT_ONCE = 100
_ROWS_AT_ONCE = 10_000


def write_label_studio(path: Path, layout: Layout, tables: Iterable[Any]) -> None:
    """Rows of one id that follow each other are one task: that is how several annotators' answers are kept.

    The id stands in the data twice: Label Studio's short export puts its own number in the place of ``id``.
    """
    key = DATA_KEYS[layout.kind]
    rows = chain.from_iterable(map(_rows, tables))
    with replacing_file(path) as file:
        separator = b"[\n"
        for tasks in _blocks(_tasks(rows, key)):
            text = json.dumps(tasks, ensure_ascii=False, allow_nan=False)
            file.write(separator + text[1:-1].encode())
            separator = b",\n"
        file.write(b"\n]\n" if separator == b",\n" else b"[]\n")


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    names = table.column_names
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield dict(zip(names, row, strict=True))


def _tasks(rows: Iterable[dict[str, Any]], key: str) -> Iterator[dict[str, Any]]:
    task: dict[str, Any] | None = None
    for row in rows:
        if task is None or task["data"]["id"] != row["id"]:
            if task is not None:
                yield task
            task = {"data": {"id": row["id"], ITEM_ID: row["id"]}}
            if CONTENT in row:
                task["data"][CONTENT if key == "id" else key] = _shown(row[CONTENT], key)
            elif key != "id":
                raise DataError(f"Label Studio shows the items; an export of {key} for it needs the column {CONTENT}.")
        if row["label"] is not None:
            place, label = _labelled(row)
            task.setdefault(place, []).append(label)
    if task is not None:
        yield task


def _labelled(row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Who gave the label stands in ``meta``: ``completed_by`` may only name people Label Studio knows."""
    result: dict[str, Any] = {
        "from_name": LABEL_NAME,
        "to_name": ITEM_NAME,
        "type": "choices",
        "value": {"choices": [str(row["label"])]},
    }
    meta = {name: row[name] for name in ("annotator", "round", "threshold") if row[name] is not None}
    if meta:
        result["meta"] = meta
    if row["source"] != "machine":
        return "annotations", {"ground_truth": False, "result": [result]}
    prediction = {"model_version": row["model"], "score": row["confidence"], "result": [result]}
    return "predictions", {name: value for name, value in prediction.items() if value is not None}


def _shown(content: str | None, key: str) -> Any:
    """Rows of a table as objects, which is what Label Studio draws tables of; it refuses null in any place."""
    if key != "table":
        return content or ""
    try:
        row = json.loads(content or "{}")
    except ValueError:
        row = content
    return row if isinstance(row, dict) else {"row": row}


def _blocks(tasks: Iterable[Any]) -> Iterator[list[Any]]:
    block: list[Any] = []
    for task in tasks:
        block.append(task)
        if len(block) == _TASKS_AT_ONCE:
            yield block
            block = []
    if block:
        yield block
