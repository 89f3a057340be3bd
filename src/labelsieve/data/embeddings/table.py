"""Rows of a table: numbers standardised, categories one-hot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from labelsieve.data.embeddings.base import Contents, Progress, refuse_other_length
from labelsieve.errors import DataError
from labelsieve.types import Array

_MISSING = ""
_MOST_CATEGORIES = 100
_RARE = 0.001
"""A category that fewer than this share of the rows have (and than two rows) is put together with other such."""
_LARGEST_NUMBER = 1e38
_ROWS_AT_ONCE = 1000
_SHOWN = 8


class TableFeatures:
    """Learned from all rows; the columns they keep are in memory, eight bytes a value."""

    def __init__(self, contents: Contents, progress: Progress) -> None:
        self._n_rows = len(contents)
        self._numeric: dict[str, Array] = {}
        self._categorical: dict[str, Array] = {}
        self.left_out: dict[str, str] = {}
        for name, values in _columns(contents, progress).items():
            self._sort_in(name, values)
        if not self._numeric and not self._categorical:
            raise DataError(
                "A table must have at least one column that tells rows apart; "
                f"{_listed([f'{name} ({why})' for name, why in self.left_out.items()]) or 'it has no columns'}."
            )
        self._fit()

    def _sort_in(self, name: str, values: Array) -> None:
        """Numbers, categories, or nothing to learn from."""
        distinct = set(values.tolist())
        if len(distinct) < 2:
            self.left_out[name] = "one value"
        elif (numbers := _as_numbers(values)) is not None:
            self._numeric[name] = numbers
        elif len(distinct) == len(values):
            self.left_out[name] = "all different"
        elif _largest_count(values) < self._least_rows:
            self.left_out[name] = "nearly all different"
        else:
            self._categorical[name] = np.asarray(
                [value if isinstance(value, str) else f"{value:g}" for value in values], dtype=object
            )

    @property
    def _least_rows(self) -> int:
        return max(2, int(_RARE * self._n_rows))

    def _fit(self) -> None:
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        self._encoders: list[tuple[Any, Array]] = []
        if self._numeric:
            scaled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
            self._encoders.append((scaled, np.column_stack(list(self._numeric.values()))))
        if self._categorical:
            one_hot = OneHotEncoder(
                min_frequency=self._least_rows,
                max_categories=_MOST_CATEGORIES,
                handle_unknown="ignore",
                sparse_output=False,
                dtype=np.float32,
            )
            self._encoders.append((one_hot, np.column_stack(list(self._categorical.values()))))
        self.parts, self.width = [], 0
        for (encoder, values), what in zip(self._encoders, self._kinds(), strict=True):
            width = encoder.fit(values).transform(values[:1]).shape[1]
            self.parts.append(f"{what} {width}")
            self.width += width

    def _kinds(self) -> list[str]:
        return ["numbers"] * bool(self._numeric) + ["categories"] * bool(self._categorical)

    def rows(self) -> Iterator[Array]:
        """One row of features per row of the table."""
        for start in range(0, self._n_rows, _ROWS_AT_ONCE):
            end = start + _ROWS_AT_ONCE
            yield np.hstack([encoder.transform(values[start:end]) for encoder, values in self._encoders])

    @property
    def note(self) -> str:
        """Which column became what."""
        said = []
        if self._numeric:
            said.append(f"Numbers: {_listed(list(self._numeric))}.")
        if self._categorical:
            said.append(f"Categories: {_listed(list(self._categorical))}.")
        if self.left_out:
            said.append(f"Left out: {_listed([f'{name} ({why})' for name, why in self.left_out.items()])}.")
        return " ".join(said)


def _columns(contents: Contents, progress: Progress) -> dict[str, Array]:
    """All values by column; empty ones are ``""``, text is kept once however often it occurs."""
    total = len(contents)
    columns: dict[str, Array] = {}
    known: dict[str, str] = {}
    row = 0
    for chunk in contents.chunks():
        refuse_other_length(row + len(chunk), total, at_end=False)
        for content in chunk:
            for name, value in _parsed(content, row).items():
                if name not in columns:
                    columns[name] = np.full(total, _MISSING, dtype=object)
                plain = _plain(value)
                columns[name][row] = known.setdefault(plain, plain) if isinstance(plain, str) else plain
            row += 1
        progress("reading columns", row, total)
    return columns


def _parsed(content: str, row: int) -> dict[str, Any]:
    try:
        values = json.loads(content)
    except ValueError as error:
        raise DataError(f"A row of a table must be a JSON object; row {row} cannot be read: {error}.") from error
    if not isinstance(values, dict):
        raise DataError(f"A row of a table must be a JSON object; row {row} is {content[:60]!r}.")
    return values


def _plain(value: Any) -> str | float:
    """A number, or text without blanks around it; what cannot be a number of single precision counts as missing."""
    if value is None:
        return _MISSING
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if abs(value) < _LARGEST_NUMBER else _MISSING
    return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _as_numbers(values: Array) -> Array | None:
    """As numbers with NaN where there is none, if everything that is there is a number."""
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value == _MISSING:
            continue
        try:
            number = float(value)
        except ValueError:
            return None
        if isinstance(value, str) and "_" in value:  # which Python takes for a number, and nobody else
            return None
        numbers[row] = number if abs(number) < _LARGEST_NUMBER else np.nan
    return None if np.isnan(numbers).all() else numbers


def _largest_count(values: Array) -> int:
    import pandas as pd

    return int(pd.Series(values).value_counts().iloc[0])


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
