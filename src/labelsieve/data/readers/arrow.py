"""From Arrow's columns to cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from labelsieve.data.readers.base import CHUNK_BYTES, Block
from labelsieve.data.readers.cells import plain


def blocks(batches: Iterable[Any], columns: list[str], size: int) -> Iterator[Block]:
    """Record batches of any length as blocks of ``size`` rows with these columns; fewer rows where they are long."""
    kept: list[list[Any]] = [[] for _ in columns]
    waiting = seen = held = 0
    for whole in batches:
        batch = whole.select(columns)
        step = rows_at_once(batch.nbytes, batch.num_rows, size)
        for start in range(0, batch.num_rows, step):
            part = batch.slice(start, step)
            if waiting and held + part.nbytes > CHUNK_BYTES:
                yield Block(list(kept), range(seen + 1, seen + waiting + 1))
                kept, seen, waiting, held = [[] for _ in columns], seen + waiting, 0, 0
            for cells, name in zip(kept, columns, strict=True):
                cells.extend(_cells(part.column(name)))
            waiting, held = waiting + part.num_rows, held + part.nbytes
            if waiting >= size:
                yield Block([cells[:size] for cells in kept], range(seen + 1, seen + size + 1))
                kept, seen, waiting = [cells[size:] for cells in kept], seen + size, waiting - size
                held = part.nbytes if waiting else 0
    if waiting:
        yield Block(list(kept), range(seen + 1, seen + waiting + 1))


def rows_at_once(total_bytes: int, rows: int, size: int) -> int:
    """As many rows as a block should have, from what all of them take."""
    return max(1, min(size, CHUNK_BYTES * rows // max(1, total_bytes)))


def _cells(column: Any) -> list[Any]:
    import pyarrow as pa

    kind, cells = column.type, column.to_pylist()
    is_plain = (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
    )
    return cells if is_plain else [plain(cell) for cell in cells]
