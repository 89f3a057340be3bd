"""Cells that were run more than once: on another machine, or by another version of the package.

A cell matches if its means of coverage and of error, over the seeds that there are twice, are no further from those of
the table than the standard deviation that it has there over all its seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, stdev

from scipy.stats import t as student_t

from experiments.paper.configuration import DATASETS, RULES, protocol
from experiments.paper.store import AGAIN, Record, Store, is_same_run
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
    """Cells of one dataset under one rule, in the table and as one machine and version beside it has them.

    ``identical``: runs with the same labels in number, and as many wrong. ``empty``: runs beside the table that label
    nothing. ``moved``: cells that do not match, as the table has them over all their seeds. ``others``: all cells as
    they are beside it. Of pairs, the table's comes first."""

    dataset: str
    rule: str
    methods: list[str]
    cells: int
    matching: int
    runs: int
    identical: int
    empty: int
    in_table: str
    beside: str
    coverage: tuple[float, float]
    error: tuple[float, float] | None
    moved: list[tuple[CellName, Cell]]
    others: dict[CellName, Cell]

    @classmethod
    def of(cls, dataset: str, rule: str, found: dict[CellName, tuple[Seeds, Seeds]]) -> Comparison:
        """``found``: all runs of a cell in the table, and those beside it."""
        pairs = [(own[seed], other) for own, others in found.values() for seed, other in others.items()]
        moved = [(name, Cell.of(own.values())) for name, (own, others) in found.items() if not _matches(own, others)]
        both = [(error_of(own), error_of(other)) for own, other in pairs]
        errors = [(own, other) for own, other in both if own is not None and other is not None]
        return cls(
            dataset=dataset,
            rule=rule,
            methods=_methods(found),
            cells=len(found),
            matching=len(found) - len(moved),
            runs=len(pairs),
            identical=sum(_labels(own) == _labels(other) for own, other in pairs),
            empty=sum(not other["machine_labels"] for _, other in pairs),
            in_table=_machines([own for own, _ in pairs]),
            beside=_machines([other for _, other in pairs]),
            coverage=_means([(own["coverage"], other["coverage"]) for own, other in pairs]),
            error=_means(errors) if errors else None,
            moved=moved,
            others={name: Cell.of(others.values()) for name, (_, others) in found.items()},
        )

    def elsewhere(self, others: Sequence[Comparison], name: CellName) -> list[tuple[str, Cell]]:
        """The same cell by the other machines and versions beside the table."""
        return [
            (other.beside, other.others[name])
            for other in others
            if (other.dataset, other.rule) == (self.dataset, self.rule) and other is not self and name in other.others
        ]


def comparisons(store: Store) -> list[Comparison]:
    """One for each dataset and rule of which anything was run more than once, and for each machine and version."""
    found = []
    for dataset in DATASETS:
        table, records = runs(store, dataset), store.read(AGAIN, dataset)
        for rule, machine in product(RULES, sorted({made_by(record) for record in records})):
            beside = by_cell(one for one in records if one["thresholds"] == rule and made_by(one) == machine)
            in_both = sorted(table.keys() & beside.keys())
            pairs = {name: (table[name], _comparable(table[name], beside[name])) for name in in_both}
            both = {name: (own, others) for name, (own, others) in pairs.items() if others}
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


def _comparable(own: Seeds, others: Seeds) -> Seeds:
    """Those with a seed and with parameters that the table has, too, and that are not the table's own."""
    return {
        seed: run
        for seed, run in others.items()
        if seed in own and parameters_of(run) == parameters_of(own[seed]) and not is_same_run(run, own[seed])
    }


def comparison_table(found: Sequence[Comparison]) -> str:
    lines = [
        [
            protocol(one.dataset).title,
            f"`{one.rule}`",
            ", ".join(one.methods),
            one.in_table,
            one.beside,
            f"{one.identical} of {one.runs}",
            str(one.empty),
            f"{one.matching} of {one.cells}",
            _both(one.coverage),
            "–" if one.error is None else _both(one.error),
        ]
        for one in found
    ]
    header = ["dataset", "rule", "training", "in the table", "beside it", "runs alike", "empty", "cells that match"]
    return markdown([*header, "mean coverage", "mean error"], lines, left=5)


def _methods(names: Collection[CellName]) -> list[str]:
    """Ways of training; with the confidence function, where there is but one."""
    trainings, functions = dict.fromkeys(name.training for name in names), {name.confidence for name in names}
    beside = "".join(f" + {TITLES[function]}" for function in functions) if len(functions) == 1 else ""
    return [TITLES[training] + beside for training in trainings]


def _matches(own: Seeds, others: Seeds) -> bool:
    return all(_is_near(own, others, quantity) for quantity in (_coverage, error_of))


def _is_near(own: Seeds, others: Seeds, quantity: Callable[[Record], float | None]) -> bool:
    usual = [value for run in own.values() if (value := quantity(run)) is not None]
    here = [value for seed in others if (value := quantity(own[seed])) is not None]
    there = [value for run in others.values() if (value := quantity(run)) is not None]
    if not here or not there:
        return here == there
    return abs(fmean(there) - fmean(here)) <= (stdev(usual) if len(usual) > 1 else 0.0)


def _coverage(run: Record) -> float | None:
    return float(run["coverage"])


def _labels(run: Record) -> tuple[int, int]:
    return run["machine_labels"], run["wrong"]


def _machines(records: Sequence[Record]) -> str:
    return " and ".join(sorted({made_by(record) for record in records}))


def _means(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    here, there = zip(*pairs, strict=True)
    return fmean(here), fmean(there)


def _both(means: tuple[float, float]) -> str:
    return " and ".join(f"{100 * mean:.1f}" for mean in means)
