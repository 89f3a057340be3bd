"""The parameters that the search has chosen, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.paper.configuration import CONFIDENCES, DATASETS, TRAININGS
from experiments.paper.store import Record, Store
from experiments.paper.table import NOT_RUN, TITLES, markdown

LOWEST_ERROR, AT_RANDOM = "†", "‡"
"""Marks for a choice that had nothing within the tolerance to choose from, or nothing at all."""
_SHORT = {
    "learning_rate": "lr",
    "weight_decay": "wd",
    "batch_size": "batch",
    "epochs": "epochs",
    "training__rank_weight": "rank weight",
    "penalty": "λ",
    "alpha": "α",
    "n_bins": "bins",
    "points_per_bin": "points per bin",
    "l2": "L2",
}


def parameters_table(store: Store, dataset: str) -> str:
    """What the search has chosen: of the classifier, then of each confidence function, for every training."""
    found = {(record["training"], record["confidence"]): record for record in store.read("searches", dataset)}
    lines = [["classifier", *(_of_classifier(found, training) for training in TRAININGS)]]
    for confidence in CONFIDENCES[1:]:
        records = [found.get((training, confidence)) for training in TRAININGS]
        lines.append([TITLES[confidence], *(_chosen(record, "confidence") for record in records)])
    return markdown(["", *(TITLES[training] for training in TRAININGS)], lines, left=1 + len(TRAININGS))


def tried(store: Store, confidence: str, parameter: str) -> list[Any]:
    """All values of a parameter of a confidence function that some search has tried."""
    return _tried(
        [record for record in _searches(store) if record["confidence"] == confidence], "confidence", parameter
    )


def tried_table(store: Store) -> str:
    """All values that the searches have tried, of parameters with more than one."""
    records = _searches(store)
    lines = [["classifier", _all_tried(records, "training")]]
    for confidence in CONFIDENCES[1:]:
        own = [record for record in records if record["confidence"] == confidence]
        lines.append([TITLES[confidence], _all_tried(own, "confidence")])
    return markdown(["", "tried"], lines, left=2)


def _searches(store: Store) -> list[Record]:
    return [record for dataset in DATASETS for record in store.read("searches", dataset)]


def _all_tried(records: Sequence[Record], phase: str) -> str:
    varied = {name: values for name in _SHORT if len(values := _tried(records, phase, name)) > 1}
    texts = [f"{_SHORT[name]} {', '.join(f'{value:g}' for value in values)}" for name, values in varied.items()]
    return "; ".join(texts) or NOT_RUN


def _tried(records: Sequence[Record], phase: str, parameter: str) -> list[Any]:
    return sorted({value for record in records for value in _values(record, phase, parameter)})


def _of_classifier(found: Mapping[tuple[str, str], Record], training: str) -> str:
    records = [found[training, confidence] for confidence in CONFIDENCES if (training, confidence) in found]
    # One text unless ties were settled differently.
    return "; ".join(dict.fromkeys(_chosen(record, "training") for record in records)) or NOT_RUN


def _chosen(record: Record | None, phase: str) -> str:
    if record is None:
        return NOT_RUN
    chosen = record[f"{phase}_parameters"]
    varied = {name: value for name, value in chosen.items() if len(_values(record, phase, name)) > 1}
    words = ", ".join(f"{_SHORT.get(name, name)} {value:g}" for name, value in varied.items())
    return f"{words} ({_found(record, phase)}){_mark(record, phase)}"


def chosen_coverages(store: Store, dataset: str, confidence: str) -> list[float]:
    """On D_hyp, of the values chosen for this confidence function, for every training it was searched with."""
    records = [record for record in store.read("searches", dataset) if record["confidence"] == confidence]
    return [float(_chosen_row(record, "confidence")["coverage"]) for record in records]


def _found(record: Record, phase: str) -> str:
    """Coverage @ error on D_hyp."""
    row = _chosen_row(record, phase)
    return f"{100 * row['coverage']:.1f} @ {100 * row['error']:.1f}" if row["error"] is not None else "nothing"


def _chosen_row(record: Record, phase: str) -> Record:
    (row,) = (row for row in record["table"] if row["phase"] == phase and row["chosen"])
    return dict(row)


def _mark(record: Record, phase: str) -> str:
    reason = record["reasons"][phase]
    if reason.startswith("lowest error"):
        return f" {LOWEST_ERROR}"
    return f" {AT_RANDOM}" if reason.startswith("drawn at random") else ""


def _values(record: Record, phase: str, parameter: str) -> set[Any]:
    return {row[parameter] for row in record["table"] if row["phase"] == phase and row.get(parameter) is not None}
