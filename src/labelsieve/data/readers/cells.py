"""What one cell of a table may hold, and how it is written down."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_INVISIBLE_BUT_NEEDED = "\u200c\u200d"
"""Joiners that Persian, Indic scripts and emoji are spelled with."""


def is_empty(cell: Any) -> bool:
    """Nothing there: no value, not a number, or only white space."""
    if isinstance(cell, str):
        return not cell or cell.isspace()
    return cell is None or cell != cell


def as_text(cell: Any) -> str:
    """A cell as a text of its own; numbers as JSON writes them."""
    if isinstance(cell, str):
        return cell
    return "" if is_empty(cell) else compact_json(cell)


def compact_json(value: Any) -> str:
    """Without spaces, letters as they are; raises ValueError for infinity, which JSON cannot write."""
    return _ENCODER.encode(value)


def plain(value: Any) -> Any:
    """A cell of a typed file as text, number, truth value or None; what is nested becomes compact JSON."""
    value = _plain_part(value)
    if isinstance(value, (dict, list)):
        return compact_json(_without_gaps(value))
    return value


def _plain_part(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain_part(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_part(part) for part in value]
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    return str(value)


def _without_gaps(value: Any) -> Any:
    """JSON has no NaN: null. Infinities inside a list or an object become the words that numpy reads back."""
    if isinstance(value, dict):
        return {key: _without_gaps(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_gaps(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else ("inf" if value > 0 else "-inf")
    return value


def shown(cell: Any, width: int = 60) -> str:
    """A cell on one line, short, and inert on a terminal."""
    text = " ".join(as_text(cell)[: 4 * width].split()) if not isinstance(cell, float) else str(cell)
    safe = "".join(
        letter if letter.isprintable() or letter in _INVISIBLE_BUT_NEEDED else ascii(letter)[1:-1] for letter in text
    )
    return safe if len(safe) <= width else safe[: width - 1] + "…"
