"""Entries of the ledger as rows of a table: plain facts as JSON, arrays as numpy writes them. No pickle."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import IntEnum
from typing import Any, get_args, get_type_hints

import numpy as np

from labelsieve.engine import entries
from labelsieve.engine.entries import Entry
from labelsieve.errors import ProjectError
from labelsieve.types import Array

KINDS: dict[str, type] = {kind.__name__: kind for kind in get_args(entries.Entry)}


def encoded(entry: Entry) -> tuple[str, str, bytes | None]:
    """Kind, facts and arrays."""
    facts: dict[str, Any] = {}
    arrays: dict[str, Array] = {}
    for name, value in _flat(entry):
        if isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            facts[name] = int(value) if isinstance(value, IntEnum) else value
    return type(entry).__name__, json.dumps(facts, ensure_ascii=False), _packed(arrays) if arrays else None


def decoded(kind: str, facts: str, arrays: bytes | None) -> Entry:
    """The entry that ``encoded`` was given."""
    if kind not in KINDS:
        raise ProjectError(f"The project's journal holds an entry {kind!r} that this version of labelsieve has not.")
    values = {**json.loads(facts), **({} if arrays is None else _unpacked(arrays))}
    entry: Entry = _built(KINDS[kind], values, "")
    return entry


def _flat(part: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for field in fields(part):
        value = getattr(part, field.name)
        if is_dataclass(value):
            yield from _flat(value, f"{before}{field.name}.")
        else:
            yield f"{before}{field.name}", value


def _built(kind: type, values: dict[str, Any], before: str) -> Any:
    """A fact that an earlier version did not write down has its default."""
    hints = get_type_hints(kind)
    optional = {field.name for field in fields(kind) if field.default is not MISSING}
    unknown = {name for name in optional if f"{before}{name}" not in values}
    return kind(**{name: _value(hints[name], values, f"{before}{name}") for name in hints.keys() - unknown})


def _value(hint: Any, values: dict[str, Any], name: str) -> Any:
    if is_dataclass(hint):
        return _built(hint, values, f"{name}.")  # type: ignore[arg-type]
    value = values[name]
    if isinstance(hint, type) and issubclass(hint, IntEnum):
        return hint(value)
    return tuple(value) if isinstance(value, list) else value


def _packed(arrays: dict[str, Array]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpacked(content: bytes) -> dict[str, Array]:
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
