"""The labels under audit: which of them a machine gave, and a fingerprint of the file they stand in."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from labelsieve.data.classes import clean_label
from labelsieve.errors import DataError, LabelError
from labelsieve.types import Array, Ints, Label

LABELS_FILE = "labels.csv"
_NEEDED = ("id", "label", "source")
_SOURCES = {"human", "machine"}


@dataclass(frozen=True, eq=False)
class LabelSet:
    """A table of labels as ``run.labels`` has it: id, label, source, and if known role, round, confidence, threshold.

    ``file_sha256``: fingerprint of the file it was read from. "Position" below means: place among the machine labels.
    """

    table: pd.DataFrame
    file_sha256: str | None = None

    def __post_init__(self) -> None:
        missing = [name for name in _NEEDED if name not in self.table]
        if missing:
            raise DataError(
                f"A label file needs the columns {', '.join(_NEEDED)}; it has {', '.join(map(str, self.table))}. "
                "Audit the labels.csv of a run."
            )
        others = set(self.table["source"]) - _SOURCES
        if others:
            raise DataError(f"The source of a label must be human or machine; got {min(map(str, others))!r}.")
        repeated = self.table["id"].duplicated()
        if repeated.any():
            first = self.table["id"][repeated].iloc[0]
            raise DataError(f"A label file names each id once; {int(repeated.sum())} come again, the first is {first}.")
        if not len(self.rows):
            raise DataError(
                f"An audit checks machine labels; none of the {len(self.table):,} labels is one. "
                "There is nothing to certify: human labels are counted as right."
            )

    @classmethod
    def of_table(cls, table: pd.DataFrame) -> LabelSet:
        """A table in memory."""
        return cls(table.reset_index(drop=True))

    @classmethod
    def of_file(cls, path: Path) -> LabelSet:
        """A label file. All cells stay the texts they are, so that what is not changed is written back unchanged."""
        if not path.is_file():
            raise DataError(f"An audit reads the file {LABELS_FILE} of a run's output folder; there is no {path}.")
        content = path.read_bytes()
        return cls(read_table(content, path), hashlib.sha256(content).hexdigest())

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the file; of a table in memory, that of the labels.csv a report would write."""
        return self.file_sha256 or hashlib.sha256(csv_bytes(self.table)).hexdigest()

    @cached_property
    def rows(self) -> Ints:
        """Rows of the machine labels."""
        return np.flatnonzero(self.table["source"].to_numpy() == "machine")

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def ids(self) -> Array:
        """Ids of the machine labels, by position."""
        return np.asarray(self.table["id"].to_numpy()[self.rows])

    @cached_property
    def labels(self) -> Array:
        """The machine labels, by position."""
        return np.asarray(self.table["label"].to_numpy()[self.rows])

    @cached_property
    def human(self) -> dict[Any, Label]:
        """What humans had answered before the audit, by id."""
        known = self.table[self.table["source"] == "human"]
        return {plain(id_): clean_label(label) for id_, label in zip(known["id"], known["label"], strict=True)}

    @cached_property
    def classes(self) -> frozenset[Label]:
        """Labels that occur."""
        return frozenset(self.table["label"].unique().tolist())

    def column(self, name: str) -> Array | None:
        """A numeric column by position; None if it is missing or has gaps."""
        if name not in self.table:
            return None
        values = pd.to_numeric(self.table[name].iloc[self.rows], errors="coerce").to_numpy(dtype=np.float64)
        return values if np.isfinite(values).all() else None

    def spelled(self, label: Any) -> Label:
        """An answer as this table spells labels: "3.0" as "3". A word where labels are numbers raises."""
        name = clean_label(label)
        kinds = {type(known) for known in self.classes}
        if name in self.classes:
            return name
        if kinds == {str} and isinstance(name, str):
            text = name.strip()
            whole = text.removesuffix(".0")
            return whole if whole in self.classes else text
        if type(name) in kinds:
            return name
        raise LabelError(
            f"An answer must be of the kind the labels are ({', '.join(sorted(kind.__name__ for kind in kinds))}); "
            f"got {name!r} ({type(name).__name__}). Answer with the names of the classes."
        )


def read_table(content: bytes, path: Path) -> pd.DataFrame:
    """A CSV file with every cell as the text it is."""
    try:
        return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, encoding="utf-8")
    except (ValueError, pd.errors.ParserError) as error:
        raise DataError(f"{path} must be a CSV file with a header, in UTF-8: {error}") from None


def csv_bytes(table: pd.DataFrame) -> bytes:
    """The bytes a report writes for a table of labels."""
    return table.to_csv(index=False, lineterminator="\n").encode("utf-8", errors="backslashreplace")


def plain(value: Any) -> Any:
    """An id without its numpy wrapping, so that it can be looked up and written as JSON."""
    return value.item() if isinstance(value, np.generic) else value
