"""Runs done again from nothing, beside those of the table: on another machine, or by another version of the package.

A cell matches if its means of coverage and of error, over the seeds that were run again, moved by no more than the
standard deviation that it has over all its seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

from scipy.stats import t as student_t

from experiments.paper.configuration import DATASETS, RULES, protocol
from experiments.paper.store import AGAIN, Record, Store
from experiments.paper.table import (
    TITLES,
    Cell,
    CellName,
    Seeds,
    by_cell,
    error_of,
    made_by,
    markdown,
    parameters_of,
    runs,
)


@dataclass(frozen=True)
class Comparison:
    """Cells of one dataset under one rule, run again on one machine by one version. ``identical``: runs with the same
    labels in number, and as many wrong. ``empty``: runs that label nothing when done again. ``moved``: cells that do
    not match, as they were over all their seeds. ``again``: all cells as they are now."""

    dataset: str
    rule: str
    methods: list[str]
    cells: int
    matching: int
    runs: int
    identical: int
    empty: int
    before: str
    after: str
    coverage: tuple[float, float]
    error: tuple[float, float] | None
    moved: list[tuple[CellName, Cell]]
    again: dict[CellName, Cell]

    @classmethod
    def of(cls, dataset: str, rule: str, found: dict[CellName, tuple[Seeds, Seeds]]) -> Comparison:
        """``found``: all runs of a cell, and those done again."""
        pairs = [(old[seed], new) for old, again in found.values() for seed, new in again.items()]
        moved = [(name, Cell.of(old.values())) for name, (old, again) in found.items() if not _matches(old, again)]
        both = [(error_of(old), error_of(new)) for old, new in pairs]
        errors = [(old, new) for old, new in both if old is not None and new is not None]
        return cls(
            dataset=dataset,
            rule=rule,
            methods=_methods(found),
            cells=len(found),
            matching=len(found) - len(moved),
            runs=len(pairs),
            identical=sum(_labels(old) == _labels(new) for old, new in pairs),
            empty=sum(not new["machine_labels"] for _, new in pairs),
            before=_machines([old for old, _ in pairs]),
            after=_machines([new for _, new in pairs]),
            coverage=_means([(old["coverage"], new["coverage"]) for old, new in pairs]),
            error=_means(errors) if errors else None,
            moved=moved,
            again={name: Cell.of(again.values()) for name, (_, again) in found.items()},
        )

    def elsewhere(self, others: Sequence[Comparison], name: CellName) -> list[tuple[str, Cell]]:
        """The same cell by other machines and versions that ran it again."""
        return [
            (other.after, other.again[name])
            for other in others
            if (other.dataset, other.rule) == (self.dataset, self.rule) and other is not self and name in other.again
        ]


def comparisons(store: Store) -> list[Comparison]:
    """One for each dataset and rule of which anything was run again, and for each machine and version that did it."""
    found = []
    for dataset in DATASETS:
        first, records = runs(store, dataset), store.read(AGAIN, dataset)
        for rule, machine in product(RULES, sorted({made_by(record) for record in records})):
            again = by_cell(one for one in records if one["thresholds"] == rule and made_by(one) == machine)
            in_both = sorted(first.keys() & again.keys())
            pairs = {name: (first[name], _comparable(first[name], again[name])) for name in in_both}
            both = {name: (old, new) for name, (old, new) in pairs.items() if new}
            if both:
                found.append(Comparison.of(dataset, rule, both))
    return found


def never_again(found: Sequence[Comparison]) -> list[str]:
    """What of the table nobody has run again, in words."""
    words = []
    for dataset in DATASETS:
        missing = [rule for rule in RULES if (dataset, rule) not in {(one.dataset, one.rule) for one in found}]
        title = protocol(dataset).title
        words += [title] if len(missing) == len(RULES) else [f"{title} under `{rule}`" for rule in missing]
    return words


def fails_by_chance(seeds: int) -> float:
    """How often the means of a quantity over two independent sets of so many runs differ by more than the standard
    deviation of the first, if all are drawn from one normal distribution."""
    return float(2 * student_t.sf((seeds / 2) ** 0.5, seeds - 1))


def _comparable(old: Seeds, again: Seeds) -> Seeds:
    """Those with a seed and with parameters that the table has, too."""
    return {seed: run for seed, run in again.items() if seed in old and parameters_of(run) == parameters_of(old[seed])}


def comparison_table(found: Sequence[Comparison]) -> str:
    lines = [
        [
            protocol(one.dataset).title,
            f"`{one.rule}`",
            ", ".join(one.methods),
            one.before,
            one.after,
            f"{one.identical} of {one.runs}",
            str(one.empty),
            f"{one.matching} of {one.cells}",
            _moved(one.coverage),
            "–" if one.error is None else _moved(one.error),
        ]
        for one in found
    ]
    header = ["dataset", "rule", "training", "before", "again", "runs alike", "empty", "cells that match"]
    return markdown([*header, "mean coverage", "mean error"], lines, left=5)


def _methods(names: Collection[CellName]) -> list[str]:
    """Ways of training; with the confidence function, where there is but one."""
    trainings, functions = dict.fromkeys(name.training for name in names), {name.confidence for name in names}
    beside = "".join(f" + {TITLES[function]}" for function in functions) if len(functions) == 1 else ""
    return [TITLES[training] + beside for training in trainings]


def _matches(old: Seeds, again: Seeds) -> bool:
    return all(_stays(old, again, quantity) for quantity in (_coverage, error_of))


def _stays(old: Seeds, again: Seeds, quantity: Callable[[Record], float | None]) -> bool:
    usual = [value for run in old.values() if (value := quantity(run)) is not None]
    before = [value for seed in again if (value := quantity(old[seed])) is not None]
    after = [value for run in again.values() if (value := quantity(run)) is not None]
    if not before or not after:
        return before == after
    return abs(fmean(after) - fmean(before)) <= (stdev(usual) if len(usual) > 1 else 0.0)


def _coverage(run: Record) -> float | None:
    return float(run["coverage"])


def _labels(run: Record) -> tuple[int, int]:
    return run["machine_labels"], run["wrong"]


def _machines(records: Sequence[Record]) -> str:
    return " and ".join(sorted({made_by(record) for record in records}))


def _means(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    before, after = zip(*pairs, strict=True)
    return fmean(before), fmean(after)


def _moved(means: tuple[float, float]) -> str:
    return " → ".join(f"{100 * mean:.1f}" for mean in means)
