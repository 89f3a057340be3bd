"""The labels of a project as a table, a part at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from labelsieve.engine.entries import MachineLabelled
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.state import HUMAN, MACHINE
from labelsieve.store.items import Items
from labelsieve.store.reviews import Review
from labelsieve.types import Array

_AT_ONCE = 20_000
_SOURCES = np.array([None, "human", "machine"], dtype=object)


def label_table(
    ledger: Ledger,
    items: Items,
    annotators: pd.Series[str],
    corrections: Mapping[int, Review],
    *,
    everything: bool = False,
    content: bool = False,
) -> Iterator[pd.DataFrame]:
    """Chunks with id, label, source, annotator, round, confidence, threshold and model; ``everything`` has rows without
    a label, too. ``annotators``: who answered, by row; ``corrections``: machine labels that people changed, by row."""
    state = ledger.state
    n = state.n_pool or len(items)
    source = state.source[:n] if state.n_pool else np.zeros(n, dtype=np.int8)
    models, names_by_row = _models(ledger, n), annotators.to_dict()
    names = np.array([*map(str, state.classes), None], dtype=object)
    for start in range(0, n, _AT_ONCE):
        rows = np.arange(start, min(n, start + _AT_ONCE))
        if not everything:
            rows = rows[source[rows] != 0]
        if not len(rows):
            continue
        kept = items.take(rows)
        labelled, by_machine = source[rows] != 0, source[rows] == MACHINE
        table = pd.DataFrame(
            {
                "id": [id_ for id_, _ in kept],
                "label": names[np.where(labelled, state.label[rows], -1)] if state.n_pool else None,
                "source": _SOURCES[source[rows]],
                "annotator": [
                    names_by_row.get(row) if by_people else None
                    for row, by_people in zip(rows.tolist(), source[rows] == HUMAN, strict=True)
                ],
                "round": pd.array(np.where(labelled, _of(state.round_number, rows), -1), dtype="Int64"),
                "confidence": np.where(by_machine, _of(state.score, rows), np.nan),
                "threshold": np.where(by_machine, _of(state.threshold, rows), np.nan),
                "model": models[rows],
            }
        )
        table.loc[~labelled, "round"] = pd.NA
        for place in np.flatnonzero(np.isin(rows, list(corrections))).tolist():
            review = corrections[int(rows[place])]
            table.loc[place, ["label", "source", "annotator", "model"]] = [
                review.label,
                "human",
                review.annotator,
                None,
            ]
            table.loc[place, ["confidence", "threshold"]] = np.nan
        if content:
            table["content"] = [text for _, text in kept]
        yield table


def _models(ledger: Ledger, n: int) -> Array:
    """Fingerprint of the model behind each machine label, by row."""
    models = np.full(n, None, dtype=object)
    for entry in ledger:
        if isinstance(entry, MachineLabelled):
            models[entry.points] = entry.model_fingerprint
    return models


def _of(values: Array, rows: Array) -> Array:
    return values[rows] if len(values) else np.zeros(len(rows))
