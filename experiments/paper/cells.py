"""A cell of the table, or of a sweep: one dataset, one way of training, one confidence function, one rule, one seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from experiments.paper.configuration import ANCHORED, CONFIDENCES, RULES, TRAININGS, Protocol, Sweep
from experiments.paper.store import key_of

_ABOUT_SPEED = ("at_once", "seeds", "sweeps", "search", "title")
"""What a run does not depend on."""


@dataclass(frozen=True)
class Cell:
    """``changes`` are what a sweep varies, as pairs of a name in ``Protocol`` and its value."""

    training: str
    confidence: str
    thresholds: str
    seed: int
    changes: tuple[tuple[str, Any], ...] = ()

    def protocol(self, of_dataset: Protocol) -> Protocol:
        return of_dataset.changed(dict(self.changes))

    def key(self, of_dataset: Protocol, parameters: dict[str, Any]) -> str:
        """Hash of all that the result depends on, parameters of the methods included."""
        protocol = asdict(self.protocol(of_dataset))
        numbers = {name: value for name, value in protocol.items() if name not in _ABOUT_SPEED}
        reserved = of_dataset.search.points
        return key_of({**asdict(self), "changes": None, "protocol": numbers, "reserved": reserved, **parameters})


def of_table(protocol: Protocol) -> list[Cell]:
    """All cells of the table: the paper's, and those with the anchored form of Colander."""
    return of_choice(RULES, TRAININGS, (*CONFIDENCES, ANCHORED), range(protocol.seeds))


def of_sweep(sweep: Sweep) -> list[Cell]:
    """All cells of a sweep, under the paper's rule."""
    return [
        cell
        for value in sweep.values
        for cell in of_choice(
            ("paper",), sweep.trainings, sweep.confidences, range(sweep.seeds), tuple(sweep.changes(value).items())
        )
    ]


def of_choice(
    rules: Iterable[str],
    trainings: Iterable[str],
    confidences: Iterable[str],
    seeds: Iterable[int],
    changes: tuple[tuple[str, Any], ...] = (),
) -> list[Cell]:
    """Every combination; those that share their first model, and under a certified rule all models, lie together."""
    return [
        Cell(training, confidence, rule, seed, changes)
        for rule, training, seed, confidence in product(rules, trainings, seeds, confidences)
    ]


def in_batches(cells: list[Cell], at_once: int) -> Iterator[list[Cell]]:
    """Cells to run side by side."""
    for start in range(0, len(cells), at_once):
        yield cells[start : start + at_once]
