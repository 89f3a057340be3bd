"""Which columns of a table may become features without anybody having named them."""

from __future__ import annotations

from collections.abc import Iterable

from labelsieve.data.readers import Understanding, open_data
from labelsieve.data.readers.cells import is_empty
from labelsieve.errors import ConfigurationError
from labelsieve.project.config import DataSection

_READS_LIKE = {"text": "reads like text", "image path": "names images"}


def refuse_doubtful_columns(data: DataSection, found: Understanding, classes: Iterable[str]) -> None:
    """Raise if a column is a text or an image, or holds nothing but classes: it might be the answer."""
    chosen = [column for column in found.columns if column.name in data.columns]
    doubts = {column.name: _READS_LIKE[column.kind] for column in chosen if column.kind in _READS_LIKE}
    several_values = [column.name for column in chosen if column.distinct is not None and column.distinct > 1]
    for name in _with_classes_alone(data, [name for name in several_values if name not in doubts], classes):
        doubts[name] = "holds nothing but classes, and would give the answer away"
    if not doubts:
        return
    told = "; ".join(f"{name!r} {doubt}" for name, doubt in doubts.items())
    others = ",".join(name for name in data.columns if name not in doubts)
    raise ConfigurationError(
        f"Without --text, --image or --features every column would be a feature, but {told}. Say what an item is: "
        f"--text COLUMN, --image COLUMN, or the columns that count, --features {others or 'A,B'}. A column that names "
        "the items is for --id."
    )


def _with_classes_alone(data: DataSection, names: list[str], classes: Iterable[str]) -> list[str]:
    """Those of the columns in which every cell that is not empty is a class, however it is written."""
    known = set(map(_plain, classes))
    left = list(names)
    reader = open_data(data.file, encoding=data.encoding)
    for chunk in reader.chunks(left) if left else ():
        left = [
            name for name in left if all(is_empty(cell) or _plain(str(cell)) in known for cell in chunk[name].tolist())
        ]
        if not left:
            break
    return left


def _plain(text: str) -> str:
    """1.0 is the class 1, and Food the class food."""
    return text.strip().casefold().removesuffix(".0")
