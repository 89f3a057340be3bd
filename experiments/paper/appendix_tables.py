"""The smaller tables: features, rounds as printed, train-time methods, and the parameters that were chosen."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.paper.claims import Column, Gain, RoundsRow, training_gain
from experiments.paper.configuration import DATASETS, TRAININGS, protocol
from experiments.paper.store import Store
from experiments.paper.table import (
    NOT_RUN,
    PRINTED_FEATURES,
    TITLES,
    CellName,
    markdown,
    printed,
    runs,
    sweep,
    texts_of,
)

PRINTED_SINGLE_ROUND = Path(__file__).parent / "printed_single_round.csv"
_WAYS = {
    "softmax": "Softmax",
    "honest": "Colander",
    "leaking": "Colander, given the flag",
    "fixed": "Colander, epoch chosen",
    "released": "Colander, given the flag, epoch chosen",
}


def settings_table(store: Store) -> str:
    """Sizes and rounds of every dataset, and how many seeds its results have."""
    lines = []
    for dataset in DATASETS:
        used = protocol(dataset)
        seeds = sorted({len(found) for found in runs(store, dataset).values()})
        lines.append(
            [
                used.title,
                f"`{used.classifier}`",
                *(f"{number:,}" for number in (used.pool, used.train_budget, used.validation, used.search.points)),
                f"{used.rounds}: {used.seed_size:,}, then {used.batch_size:,}",
                used.precision,
                "–".join(str(number) for number in dict.fromkeys((seeds[0], seeds[-1]))) if seeds else NOT_RUN,
                f"{100 * (1 - used.train_budget / used.pool):.1f}",
            ]
        )
    header = [
        "dataset",
        "classifier",
        "N_u",
        "N_t",
        "N_v",
        "search",
        "rounds: labels",
        "precision",
        "seeds",
        "coverage ≤",
    ]
    return markdown(header, lines, left=2)


def features_table(store: Store, dataset: str) -> str:
    """Colander on pre-logits, logits, or both: printed and ours."""
    ours, theirs = sweep(store, dataset, "features"), printed(PRINTED_FEATURES, ("features",))[dataset]
    (training,) = protocol(dataset).sweeps["features"].trainings
    points = ours.get(CellName(training, "colander", "paper"), {})
    lines = [[TITLES[one], *texts_of(theirs[one])[:2], *texts_of(points.get(one))] for one in theirs]
    return markdown(["features", "printed error", "printed coverage", "error", "coverage", "≤ ε"], lines)


def rounds_table(rows: Sequence[RoundsRow], dataset: str = "cifar10") -> str:
    """The rounds as printed beside ours, with the same seeds."""
    usual, plan = protocol(dataset), protocol(dataset).sweeps["next_batch"]
    lines = [
        [
            TITLES[row.training],
            TITLES[row.confidence],
            *texts_of(row.printed)[:2],
            *texts_of(row.few),
            *texts_of(row.many),
        ]
        for row in rows
    ]
    header = ["training", "confidence", "printed error", "printed coverage"]
    for number in (usual.rounds, usual.changed(plan.changes(plan.values[0])).rounds):
        header += [f"{number} rounds: error", "coverage", "≤ ε"]
    return markdown(header, lines, left=2)


def trainings_table(measured: Mapping[str, Column], trained: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Gains over vanilla with softmax scores, in points, and what training came to (``trained`` is that summary)."""
    lines = []
    for dataset in DATASETS:
        for training in TRAININGS:
            texts = ["", "", "", ""]
            if training != "vanilla":
                gains = (training_gain(printed()[dataset], training), training_gain(measured[dataset], training))
                texts = [text for gain in gains for text in _gain_texts(gain)]
            one = trained.get(dataset, {}).get(training)
            texts += (
                [f"{100 * one['training_error']:.2f}", f"{100 * one['accuracy']:.1f}", f"{one['auroc']:.3f}"]
                if one
                else [NOT_RUN] * 3
            )
            lines.append([protocol(dataset).title, TITLES[training], *texts])
    header = ["dataset", "training", "printed: coverage", "error", "ours: coverage", "error"]
    return markdown([*header, "training error", "right elsewhere", "AUROC"], lines, left=2)


def single_round_table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The single round of Section 2.2; ``found`` is its summary."""
    with PRINTED_SINGLE_ROUND.open(encoding="utf-8", newline="") as file:
        theirs = {row["confidence"]: row for row in csv.DictReader(file)}
    lines = []
    for confidence, one in found.items():
        in_print = theirs.get(confidence, {"error": "", "coverage": ""})
        error = "–" if one["error"] is None else f"{100 * one['error']:.1f}"
        texts = [in_print["error"], in_print["coverage"], error, f"{100 * one['coverage']:.1f}", f"{one['auroc']:.3f}"]
        lines.append([TITLES[confidence], *texts])
    return markdown(["confidence", "printed error", "printed coverage", "error", "coverage", "AUROC"], lines)


def leak_table(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """With and without the leak; ``found`` is its summary."""
    lines = []
    for dataset, ways in found.items():
        for way, one in ways.items():
            texts = [_share(one[name]) for name in ("first_error", "first_coverage", "error", "coverage")]
            lines.append([protocol(dataset).title, _WAYS[way], *texts, str(len(one["seeds"]))])
    header = ["dataset", "score", "first round: error", "coverage", "all rounds: error", "coverage", "seeds"]
    return markdown(header, lines, left=2)


def _gain_texts(gain: Gain | None) -> Iterable[str]:
    if gain is None:
        return NOT_RUN, NOT_RUN
    return points(gain.coverage), "–" if gain.error is None else points(gain.error)


def _share(share: float | None) -> str:
    """In percent; no error where nothing is labelled."""
    return "–" if share is None else f"{100 * share:.1f}"


def points(difference: float) -> str:
    """A difference of shares, in percentage points, with its sign."""
    return signed(100 * difference, 1)


def signed(number: float, digits: int) -> str:
    """With a sign, unless it is rounded to zero."""
    text = f"{number:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "−")
