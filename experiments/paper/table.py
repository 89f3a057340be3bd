"""From single runs to the cells of tables: mean, spread, and how many seeds kept the tolerance.

A run that labels nothing has coverage 0 and no error: it is in the mean of coverages, not in that of errors, and it
counts as within the tolerance.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from experiments.paper.configuration import ANCHORED, CONFIDENCES, RULES, TOLERANCE, TRAININGS, protocol
from experiments.paper.store import RUNS, Record, Store

PRINTED = Path(__file__).parent / "printed.csv"
PRINTED_FEATURES = Path(__file__).parent / "printed_features.csv"
NOT_RUN = "not run"
TITLES = {
    "vanilla": "Vanilla",
    "squentropy": "Squentropy",
    "crl": "CRL",
    "fmfp": "FMFP",
    "softmax": "Softmax",
    "temperature": "Temperature scaling",
    "dirichlet": "Dirichlet",
    "scaling-binning": "Scaling-binning",
    "top-label-binning": "Top-label binning",
    "colander": "Colander",
    ANCHORED: "Colander, anchored",
    "prelogits": "Pre-logits",
    "logits": "Logits",
    "concat": "Concat",
}


class CellName(NamedTuple):
    """What is in one row of the table, under one threshold rule."""

    training: str
    confidence: str
    thresholds: str


class Spread(NamedTuple):
    """Shares over seeds. ``std`` is the sample standard deviation; None for a single seed."""

    mean: float
    std: float | None
    low: float
    high: float

    @classmethod
    def of(cls, shares: Sequence[float]) -> Spread:
        return cls(fmean(shares), stdev(shares) if len(shares) > 1 else None, min(shares), max(shares))

    def __str__(self) -> str:
        """In percent, as the paper prints it."""
        spread = "" if self.std is None else f" ± {100 * self.std:.1f}"
        return f"{100 * self.mean:.1f}{spread}"


@dataclass(frozen=True)
class Cell:
    """Runs that differ in their seed alone. ``labelled``: those with any machine label; ``error`` is over them.

    ``within``: runs at or under the tolerance; None for the paper, which prints no single runs.
    """

    seeds: int
    labelled: int
    within: int | None
    coverage: Spread
    error: Spread | None

    @classmethod
    def of(cls, runs: Iterable[Record]) -> Cell:
        runs = list(runs)
        errors = [error for run in runs if (error := error_of(run)) is not None]
        return cls(
            seeds=len(runs),
            labelled=len(errors),
            within=len(runs) - sum(error > TOLERANCE for error in errors),
            coverage=Spread.of([run["coverage"] for run in runs]),
            error=Spread.of(errors) if errors else None,
        )

    @property
    def keeps_tolerance(self) -> bool:
        """Labels something, at a mean error within the tolerance."""
        return self.error is not None and self.error.mean <= TOLERANCE

    @property
    def texts(self) -> tuple[str, str, str]:
        """Error, coverage, and seeds within the tolerance, for a table."""
        error = "–" if self.error is None else str(self.error)
        if 0 < self.labelled < self.seeds:
            error += f" ({self.labelled} of {self.seeds})"
        return error, str(self.coverage), f"{self.within}/{self.seeds}"


Seeds = dict[int, Record]
Runs = dict[CellName, Seeds]
Cells = dict[CellName, Cell]


def runs(store: Store, dataset: str, changes: Mapping[str, Any] | None = None) -> Runs:
    """The runs of a dataset, by cell and seed; those of the table, or with these changes to the protocol."""
    usual = protocol(dataset)

    def real(written: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in written.items() if getattr(usual, name) != value}

    wanted = real(changes or {})
    return by_cell(record for record in store.read(RUNS, dataset) if real(record["changes"]) == wanted)


def by_cell(records: Iterable[Record]) -> Runs:
    """By cell and seed.

    A run done again counts once. Where parameters were chosen anew, runs with the former ones no longer count.
    """
    found: defaultdict[CellName, list[Record]] = defaultdict(list)
    for record in records:
        found[CellName(record["training"], record["confidence"], record["thresholds"])].append(record)
    return {
        name: {record["seed"]: record for record in of_cell if parameters_of(record) == parameters_of(of_cell[-1])}
        for name, of_cell in found.items()
    }


def error_of(run: Record) -> float | None:
    """The share of machine labels that is wrong, of which a record has a rounded form; None where there are none."""
    return run["wrong"] / run["machine_labels"] if run["machine_labels"] else None


def made_by(run: Record) -> str:
    """The machine and the version of the package."""
    return f"{run['device']}, {run['version']}"


def cells(found: Runs) -> Cells:
    return {name: Cell.of(seeds.values()) for name, seeds in found.items()}


def sweep(store: Store, dataset: str, quantity: str, thresholds: str = "paper") -> dict[CellName, dict[Any, Cell]]:
    """One quantity varied: for each training and confidence function, its value -> cell. Of each of them the seeds that
    were run at every value that was run, so that what differs is what is varied."""
    plan = protocol(dataset).sweeps[quantity]
    found: defaultdict[CellName, dict[Any, Seeds]] = defaultdict(dict)
    for value in plan.values:
        for name, seeds in runs(store, dataset, plan.changes(value)).items():
            if (name.training, name.confidence) in plan.methods and name.thresholds == thresholds:
                found[name][value] = {seed: run for seed, run in seeds.items() if seed < plan.seeds}
    points: dict[CellName, dict[Any, Cell]] = {}
    for name, by_value in found.items():
        run_at = {value: seeds for value, seeds in by_value.items() if seeds}
        common = set.intersection(*map(set, run_at.values())) if run_at else set()
        if common:
            points[name] = {value: Cell.of(seeds[seed] for seed in common) for value, seeds in run_at.items()}
    return points


def printed(path: Path = PRINTED, rows: tuple[str, ...] = ("training", "confidence")) -> dict[str, dict[Any, Cell]]:
    """Dataset -> row -> the printed mean and standard deviation of 5 seeds. Single seeds were not printed."""
    found: defaultdict[str, dict[Any, Cell]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name = tuple(row[column] for column in rows)
            found[row["dataset"]][name if len(name) > 1 else name[0]] = Cell(
                seeds=5,
                labelled=5,
                within=None,
                coverage=_printed_spread(row, "coverage"),
                error=_printed_spread(row, "error"),
            )
    return dict(found)


def main_table(store: Store, dataset: str) -> str:
    """Training × confidence: printed, and ours under both rules. Bold: the most coverage at a mean error within ε."""
    ours, theirs = cells(runs(store, dataset)), printed()[dataset]
    anchored = any(name.confidence == ANCHORED for name in ours)
    lines = []
    for training in TRAININGS:
        confidences = [*CONFIDENCES, *([ANCHORED] if anchored else [])]
        columns: list[dict[str, Cell]] = [_in_training(theirs, training)]
        columns += [
            {name.confidence: cell for name, cell in ours.items() if name[::2] == (training, rule)} for rule in RULES
        ]
        best = [best_within(column) for column in columns]
        for confidence in confidences:
            texts = []
            for column, (winner, kept) in enumerate(zip(best, (2, 3, 3), strict=True)):
                missing = "" if column == 0 else NOT_RUN
                texts += texts_of(columns[column].get(confidence), bold=confidence == winner, missing=missing)[:kept]
            lines.append([TITLES[training], TITLES[confidence], *texts])
    header = ["training", "confidence", "printed error", "printed coverage"]
    for rule in RULES:
        header += [f"`{rule}`: error", "coverage", "≤ ε"]
    return markdown(header, lines, left=2)


def texts_of(cell: Cell | None, bold: bool = False, missing: str = NOT_RUN) -> list[str]:
    """Error, coverage and seeds within the tolerance; said where there is nothing, never made up."""
    if cell is None:
        return [missing] * 3
    error, coverage, within = cell.texts
    return [error, f"**{coverage}**" if bold else coverage, within]


def best_within(column: Mapping[Any, Cell]) -> Any:
    """The key with the most coverage among those with a mean error within the tolerance; None without any."""
    return max((key for key, cell in column.items() if cell.keeps_tolerance), key=_coverage_in(column), default=None)


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table whose first ``left`` columns are words."""
    rule = ["---"] * left + ["---:"] * (len(header) - left)
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *lines))


def _coverage_in(column: Mapping[Any, Cell]) -> Callable[[Any], float]:
    return lambda key: column[key].coverage.mean


def _in_training(theirs: Mapping[tuple[str, str], Cell], training: str) -> dict[str, Cell]:
    return {confidence: cell for (trained, confidence), cell in theirs.items() if trained == training}


def parameters_of(record: Record) -> tuple[Any, Any]:
    return record["classifier_parameters"], record["confidence_parameters"]


def _printed_spread(row: Mapping[str, str], quantity: str) -> Spread:
    mean, std = float(row[f"{quantity}_mean"]) / 100, float(row[f"{quantity}_std"]) / 100
    return Spread(mean, std, mean - std, mean + std)
