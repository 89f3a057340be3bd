"""The smaller tables: sizes, distance from print, features, rounds, train-time methods, the single round, the leak."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.paper.claims import Column, Gain, Range, Trend, off_print, training_gain
from experiments.paper.configuration import CALIBRATION, DATASETS, RULES, TRAININGS, protocol
from experiments.paper.rounds import Row
from experiments.paper.store import Record, Store
from experiments.paper.table import (
    NOT_RUN,
    PRINTED_FEATURES,
    TITLES,
    CellName,
    made_by,
    markdown,
    printed,
    runs,
    sweep,
    texts_of,
)

PRINTED_SINGLE_ROUND = Path(__file__).parent / "printed_single_round.csv"
RELEASED_CODE = Path(__file__).parent / "released_code.csv"
"""What the code of the authors gave when it was run with and without its leak, coverage and error in percent. Those
runs were made once and by hand; nothing here can repeat them. ``rounds_done``: after how many one was stopped."""
_WAYS = {
    "softmax": "Softmax",
    "honest": "Colander",
    "leaking": "Colander, given the flag",
    "fixed": "Colander, epoch chosen",
    "released": "Colander, given the flag, epoch chosen",
}
_OF_RELEASED_CODE = {
    "softmax": "softmax",
    "temperature": "temperature scaling",
    "leaking": "Colander, as released",
    "fixed": "Colander, line corrected",
}
_GROUPS = {"softmax": ("softmax",), "calibration": CALIBRATION, "Colander": ("colander",)}


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


def machines_table(store: Store) -> str:
    """How many runs are from which machine and version: those of the table, and those of other settings."""
    lines = []
    for dataset in DATASETS:
        usual = [run for seeds in runs(store, dataset).values() for run in seeds.values()]
        swept = {
            run["key"]: run
            for plan in protocol(dataset).sweeps.values()
            for value in plan.values
            for seeds in runs(store, dataset, plan.changes(value)).values()
            for run in seeds.values()
        }
        others = [run for key, run in swept.items() if key not in {run["key"] for run in usual}]
        groups = [[run for run in usual if run["thresholds"] == rule] for rule in RULES]
        texts = [*map(_by_machine, groups), _by_machine(others) if protocol(dataset).sweeps else "–"]
        lines.append([protocol(dataset).title, *texts])
    return markdown(["dataset", *(f"`{rule}`" for rule in RULES), "other sizes and rounds"], lines, left=4)


def _by_machine(found: Sequence[Record]) -> str:
    counts = Counter(made_by(run) for run in found)
    return "; ".join(f"{name}: {number}" for name, number in sorted(counts.items())) or NOT_RUN


def released_code() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """Dataset and run -> way -> its row of the file."""
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    with RELEASED_CODE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault((row["dataset"], row["run"]), {})[row["way"]] = row
    return found


def released_code_table() -> str:
    """Coverage @ error of the code of the authors."""
    lines = []
    for (dataset, run), ways in released_code().items():
        texts = [_as_released(ways[way]) if way in ways else NOT_RUN for way in _OF_RELEASED_CODE]
        lines.append([protocol(dataset).title, run, *texts])
    return markdown(["dataset", "run", *_OF_RELEASED_CODE.values()], lines, left=2)


def _as_released(row: Mapping[str, str]) -> str:
    stopped = f", stopped after {row['rounds_done']} rounds" if row["rounds_done"] else ""
    return f"{row['coverage']} @ {row['error']}{stopped}"


def off_print_table(measured: Mapping[str, Column]) -> str:
    """How far the rule ``paper`` is from the printed numbers, in points of coverage and error, over all trainings."""
    lines = []
    for dataset in DATASETS:
        found = [off_print(measured[dataset], printed()[dataset], group) for group in _GROUPS.values()]
        texts = [_span(of) for one in found for of in (one.coverage, one.error)]
        lines.append([protocol(dataset).title, *texts])
    header = [text for group in _GROUPS for text in (f"{group}: coverage", "error")]
    return markdown(["dataset", *header], lines)


def _span(of: Range | None) -> str:
    return NOT_RUN if of is None else f"{points(of.low)} to {points(of.high)}"


def features_table(store: Store, dataset: str) -> str:
    """Colander on pre-logits, logits, or both: printed and ours."""
    ours, theirs = sweep(store, dataset, "features"), printed(PRINTED_FEATURES, ("features",))[dataset]
    (training,) = protocol(dataset).sweeps["features"].trainings
    points = ours.get(CellName(training, "colander", "paper"), {})
    lines = [[TITLES[one], *texts_of(theirs[one])[:2], *texts_of(points.get(one))] for one in theirs]
    return markdown(["features", "printed error", "printed coverage", "error", "coverage", "≤ ε"], lines)


def sweep_table(found: Mapping[str, Trend], dataset: str, quantity: str, symbol: str) -> str:
    """Colander and softmax at every value, coverage @ error; ``found`` are the trends of all functions."""
    values = sorted(protocol(dataset).sweeps[quantity].values)
    lines = [
        [TITLES[name], *(_at_error(cell.coverage.mean, cell.error and cell.error.mean) for cell in found[name].cells)]
        for name in ("colander", "softmax")
        if name in found
    ]
    return markdown(["confidence", *(f"{symbol} = {value:,}" for value in values)], lines)


def rounds_table(rows: Sequence[Row], dataset: str = "cifar10") -> str:
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
    """The single round of Section 2.2; ``found`` is its summary. An error is over the seeds that label anything."""
    with PRINTED_SINGLE_ROUND.open(encoding="utf-8", newline="") as file:
        theirs = {row["confidence"]: row for row in csv.DictReader(file)}
    lines = []
    for confidence, one in found.items():
        in_print = theirs.get(confidence, {"error": "", "coverage": ""})
        error, labelled = _share(one["error"]), sum(error is not None for error in one["errors"])
        if 0 < labelled < len(one["seeds"]):
            error += f" ({labelled} of {len(one['seeds'])})"
        texts = [in_print["error"], in_print["coverage"], error, f"{100 * one['coverage']:.1f}", f"{one['auroc']:.3f}"]
        lines.append([TITLES[confidence], *texts])
    return markdown(["confidence", "printed error", "printed coverage", "error", "coverage", "AUROC"], lines)


def leak_table(found: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """With and without the leak, coverage @ error of every seed; ``found`` is its summary."""
    seeds = sorted({seed for ways in found.values() for one in ways.values() for seed in one["seeds"]})
    lines = []
    for dataset, ways in found.items():
        for way, one in ways.items():
            of_seed = dict(zip(one["seeds"], _pairs_of_rounds(one), strict=True))
            texts = [text for seed in seeds for text in of_seed.get(seed, (NOT_RUN, NOT_RUN))]
            lines.append([protocol(dataset).title, _WAYS[way], *texts])
    header = [text for seed in seeds for text in (f"seed {seed}: first round", "all rounds")]
    return markdown(["dataset", "score", *header], lines, left=2)


def _pairs_of_rounds(one: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Of every seed: the first round, and all rounds."""
    first = map(_at_error, one["first_coverages"], one["first_errors"])
    return list(zip(first, map(_at_error, one["coverages"], one["errors"]), strict=True))


def _at_error(coverage: float, error: float | None) -> str:
    return "nothing" if error is None else f"{100 * coverage:.1f} @ {_share(error)}"


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
