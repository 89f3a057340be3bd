"""CIFAR-10 with as many rounds as in the released code, beside what is printed and beside our few rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.paper.claims import Difference
from experiments.paper.configuration import protocol
from experiments.paper.store import Store
from experiments.paper.table import TITLES, Cell, CellName, printed, runs, sweep


@dataclass(frozen=True)
class Row:
    """A method with our rounds and with those of the paper, the same seeds in both; None if not run."""

    training: str
    confidence: str
    printed: Cell
    few: Cell | None
    many: Cell | None


def rows(store: Store, dataset: str = "cifar10") -> list[Row]:
    plan, usual = protocol(dataset).sweeps["next_batch"], runs(store, dataset)
    (value,) = plan.values
    many, theirs = sweep(store, dataset, "next_batch"), printed()[dataset]
    found = []
    for training in plan.trainings:
        for confidence in plan.confidences:
            name = CellName(training, confidence, "paper")
            few = [run for seed, run in usual.get(name, {}).items() if seed < plan.seeds]
            measured = many.get(name, {}).get(value)
            printed_cell = theirs[training, confidence]
            found.append(Row(training, confidence, printed_cell, Cell.of(few) if few else None, measured))
    return found


@dataclass(frozen=True)
class Facts:
    """Some methods with the rounds of the paper, minus what is printed and minus what our rounds give."""

    methods: list[str]
    seeds: int
    runs: int
    within: tuple[int, int]
    """Of ``runs``, those with an error within the tolerance: with our rounds, and with those of the paper."""
    empty: tuple[int, int]
    """Of these, those that label nothing."""
    off_print: Difference
    gained: Difference


def facts(of: Sequence[Row]) -> Facts | None:
    """None if any of them was not run."""
    pairs = [(row.printed, row.few, row.many) for row in of]
    whole = [(theirs, few, many) for theirs, few, many in pairs if few is not None and many is not None]
    if not whole or len(whole) < len(pairs):
        return None

    return Facts(
        list(dict.fromkeys(TITLES[row.confidence] for row in of)),
        min(many.seeds for _, _, many in whole),
        sum(many.seeds for _, _, many in whole),
        (sum(few.within or 0 for _, few, _ in whole), sum(many.within or 0 for _, _, many in whole)),
        (sum(few.seeds - few.labelled for _, few, _ in whole), sum(many.seeds - many.labelled for _, _, many in whole)),
        Difference.of([(many, theirs) for theirs, _, many in whole]),
        Difference.of([(many, few) for _, few, many in whole]),
    )
