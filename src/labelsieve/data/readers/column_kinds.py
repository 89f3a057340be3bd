"""A guess of what a column holds, from all its cells, without keeping them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from labelsieve.data.readers.cells import is_empty
from labelsieve.data.readers.images import IMAGE_SUFFIXES

MOST_CATEGORIES = 1000
_LONGEST_CATEGORY = 100
_ROWS_PER_CATEGORY = 2
_NUMBER = re.compile(r"\s*[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
"""Without zeros in front: 007 is a code."""

Kind = Literal["text", "number", "category", "image path", "empty"]


@dataclass(frozen=True)
class Column:
    """A column and what it seems to hold; ``distinct`` is None beyond 1000 different values."""

    name: str
    kind: Kind
    distinct: int | None
    empty: int

    def __str__(self) -> str:
        return f"{self.kind}, {self.distinct} values" if self.kind == "category" else self.kind


class ColumnWatch:
    """Sees the cells of one column go by."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._filled = self._empty = self._longest = 0
        self._numbers = self._images = self._truths = True
        self._hashes: set[int] | None = set()

    def see(self, cells: list[Any]) -> None:
        """Some more cells. What is ruled out is not looked at again."""
        filled = [cell for cell in cells if not is_empty(cell)]
        self._filled += len(filled)
        self._empty += len(cells) - len(filled)
        self._numbers = self._numbers and all(map(_is_number, filled))
        self._images = self._images and all(map(_is_image_path, filled))
        self._truths = self._truths and all(isinstance(cell, bool) for cell in filled)
        if self._hashes is not None:
            self._hashes.update(map(hash, filled))
            self._longest = max([self._longest, *(len(cell) for cell in filled if isinstance(cell, str))])
            if len(self._hashes) > MOST_CATEGORIES:
                self._hashes = None

    def column(self) -> Column:
        """What was seen, in a word."""
        distinct = None if self._hashes is None else len(self._hashes)
        return Column(self._name, self._kind(distinct), distinct, self._empty)

    def _kind(self, distinct: int | None) -> Kind:
        if not self._filled:
            return "empty"
        if self._images:
            return "image path"
        if self._numbers:
            return "number"
        few = distinct is not None and distinct * _ROWS_PER_CATEGORY <= self._filled
        return "category" if self._truths or (few and self._longest <= _LONGEST_CATEGORY) else "text"


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return _NUMBER.fullmatch(cell) is not None
    return not isinstance(cell, bool)


def _is_image_path(cell: Any) -> bool:
    return isinstance(cell, str) and cell[-5:].lower().endswith(IMAGE_SUFFIXES)
