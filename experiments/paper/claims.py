"""What the numbers say about the paper's claims; the document picks its sentences by these facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.paper import surrogates
from experiments.paper.configuration import CALIBRATION, CONFIDENCES, TRAININGS, protocol
from experiments.paper.store import Store
from experiments.paper.table import Cell, CellName, Runs, best_within, cells, sweep

Column = Mapping[tuple[str, str], Cell]
"""Training and confidence function -> cell: what was printed, or measured under one rule."""
NOT_FITTED = ("softmax",)
"""Their scores need no calibration points, so ν changes nothing for them."""
RANKING = ("crl", "fmfp")
"""Trainings that are to order scores as correctness."""


class Range(NamedTuple):
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Range | None:
        found = list(values)
        return cls(min(found), max(found)) if found else None


def under_rule(found: Runs, thresholds: str) -> dict[tuple[str, str], Cell]:
    return {
        (name.training, name.confidence): cell for name, cell in cells(found).items() if name.thresholds == thresholds
    }


@dataclass(frozen=True)
class ClaimFacts:
    """One confidence function against the others, over the trainings with which all of them were run."""

    trainings: int
    within: int
    """Trainings in which it labels something at a mean error within the tolerance."""
    best: int
    """Trainings in which it has the most coverage of all whose mean error is within the tolerance."""
    improved: int
    """Trainings in which its mean error is within the tolerance and it covers more than softmax."""
    covers_more: int
    """Trainings in which it covers more than softmax, whatever its error."""
    error: Range | None
    gain: Range | None
    """Coverage minus that of softmax."""
    winners: list[tuple[str, str, Cell]]
    """Training, confidence function and cell with the most coverage within the tolerance, where there is one."""


def claim(column: Column, confidence: str = "colander") -> ClaimFacts:
    """Facts for the claims C1 (it beats the other functions) and C2 (it improves every way of training)."""
    compared = dict.fromkeys((*CONFIDENCES, confidence))
    by_training = {
        training: {one: column[training, one] for one in compared}
        for training in TRAININGS
        if all((training, one) in column for one in compared)
    }
    mine = {training: row[confidence] for training, row in by_training.items()}
    best = {training: best_within(row) for training, row in by_training.items()}
    gains = {
        training: mine[training].coverage.mean - row["softmax"].coverage.mean for training, row in by_training.items()
    }
    return ClaimFacts(
        trainings=len(by_training),
        within=sum(cell.keeps_tolerance for cell in mine.values()),
        best=sum(winner == confidence for winner in best.values()),
        improved=sum(mine[training].keeps_tolerance and gain > 0 for training, gain in gains.items()),
        covers_more=sum(gain > 0 for gain in gains.values()),
        error=Range.of(cell.error.mean for cell in mine.values() if cell.error),
        gain=Range.of(gains.values()),
        winners=[(training, winner, by_training[training][winner]) for training, winner in best.items() if winner],
    )


def pairs(found: Runs, thresholds: str, confidence: str = "colander", other: str = "softmax") -> tuple[int, int]:
    """Runs with more coverage than the run of ``other`` with the same training and seed, of how many such pairs."""
    won = total = 0
    for training in TRAININGS:
        mine = found.get(CellName(training, confidence, thresholds), {})
        theirs = found.get(CellName(training, other, thresholds), {})
        both = mine.keys() & theirs.keys()
        won += sum(mine[seed]["coverage"] > theirs[seed]["coverage"] for seed in both)
        total += len(both)
    return won, total


@dataclass(frozen=True)
class RuleFacts:
    """A rule on a dataset as a whole. ``within``: runs at or under the tolerance, of which ``empty`` label nothing.
    ``cells``: those that label anything. ``best``: the most coverage at a mean error within the tolerance."""

    runs: int
    within: int
    empty: int
    cells: int
    cells_within: int
    seeds: Range | None
    best: tuple[tuple[str, str], Cell] | None


def rule_facts(column: Column) -> RuleFacts:
    winner = best_within(column)
    return RuleFacts(
        runs=sum(cell.seeds for cell in column.values()),
        within=sum(cell.within or 0 for cell in column.values()),
        empty=sum(cell.seeds - cell.labelled for cell in column.values()),
        cells=sum(cell.error is not None for cell in column.values()),
        cells_within=sum(cell.keeps_tolerance for cell in column.values()),
        seeds=Range.of(cell.seeds for cell in column.values()),
        best=(winner, column[winner]) if winner else None,
    )


@dataclass(frozen=True)
class Difference:
    """Cells minus others, pair by pair; of errors, where both label something."""

    coverage: Range | None
    error: Range | None

    @classmethod
    def of(cls, pairs: Sequence[tuple[Cell, Cell]]) -> Difference:
        return cls(
            Range.of(one.coverage.mean - other.coverage.mean for one, other in pairs),
            Range.of(one.error.mean - other.error.mean for one, other in pairs if one.error and other.error),
        )


def off_print(measured: Column, theirs: Column, confidences: Sequence[str]) -> Difference:
    """Some confidence functions, over all trainings: what is measured minus what is printed."""
    names = [name for name in measured.keys() & theirs.keys() if name[1] in confidences]
    return Difference.of([(measured[name], theirs[name]) for name in names])


def fallbacks(found: Runs) -> tuple[int, int]:
    """Rounds of fitted functions in which softmax stood in, and all their rounds."""
    fitted = [run for name, seeds in found.items() if name.confidence not in NOT_FITTED for run in seeds.values()]
    return sum(run["fallback_rounds"] for run in fitted), sum(len(run["rounds"]) for run in fitted)


class Share(NamedTuple):
    """So many of so many."""

    count: int
    total: int


@dataclass(frozen=True)
class CalibrationFacts:
    """The four calibration functions against softmax with the same dataset and training: where they cover more, and
    where both label something and they err more."""

    more_coverage: Share
    more_error: Share


def calibration(columns: Mapping[str, Column]) -> CalibrationFacts:
    both = [
        (column[training, one], column[training, "softmax"])
        for column in columns.values()
        for training in TRAININGS
        for one in CALIBRATION
        if {(training, one), (training, "softmax")} <= column.keys()
    ]
    errors = [(mine.error.mean, theirs.error.mean) for mine, theirs in both if mine.error and theirs.error]
    return CalibrationFacts(
        Share(sum(mine.coverage.mean > theirs.coverage.mean for mine, theirs in both), len(both)),
        Share(sum(mine > theirs for mine, theirs in errors), len(errors)),
    )


def covers_most(columns: Mapping[str, Column], training: str = "squentropy") -> Share:
    """With how many datasets and confidence functions this training has the most coverage, of those with all four."""
    whole = [
        {one: column[one, confidence].coverage.mean for one in TRAININGS}
        for column in columns.values()
        for confidence in CONFIDENCES
        if all((one, confidence) in column for one in TRAININGS)
    ]
    return Share(sum(found[training] == max(found.values()) > 0 for found in whole), len(whole))


class Gain(NamedTuple):
    """Coverage and error minus those of something else. ``error`` is None where one of them labels nothing."""

    coverage: float
    error: float | None


def training_gain(column: Column, training: str, over: str = "vanilla") -> Gain | None:
    """What one way of training gains over another, both scored by softmax; None if either was not run."""
    one, other = column.get((training, "softmax")), column.get((over, "softmax"))
    if one is None or other is None:
        return None
    error = one.error.mean - other.error.mean if one.error and other.error else None
    return Gain(one.coverage.mean - other.coverage.mean, error)


@dataclass(frozen=True)
class Trend:
    """A confidence function over the values of what was varied, the smallest first."""

    confidence: str
    cells: list[Cell]

    @property
    def first(self) -> Cell:
        return self.cells[0]

    @property
    def last(self) -> Cell:
        return self.cells[-1]

    @property
    def error_rises(self) -> bool:
        """From the first value to the last, whatever is between."""
        return bool(self.first.error and self.last.error and self.last.error.mean > self.first.error.mean)

    @property
    def coverage_rises(self) -> bool:
        """From the first value to the last, whatever is between."""
        return self.last.coverage.mean > self.first.coverage.mean

    def ahead_of(self, other: Trend) -> int:
        """At how many of the values it covers more."""
        return self.ahead_of_all([other])

    def ahead_of_all(self, others: Iterable[Trend]) -> int:
        """At how many of the values it covers more than every one of them."""
        rivals = zip(*(other.cells for other in others), strict=True)
        both = zip(self.cells, rivals, strict=True)
        return sum(mine.coverage.mean > max(cell.coverage.mean for cell in theirs) for mine, theirs in both)


def most_of_all(found: Iterable[Mapping[str, Trend]], confidence: str = "colander") -> Share:
    """At how many settings of these sweeps it covers more than every other function, whatever its error."""
    whole = [trends for trends in found if confidence in trends and len(trends) > 1]
    ahead = [
        trends[confidence].ahead_of_all(trend for name, trend in trends.items() if name != confidence)
        for trends in whole
    ]
    return Share(sum(ahead), sum(len(trends[confidence].cells) for trends in whole))


def trends(store: Store, dataset: str, quantity: str) -> dict[str, Trend]:
    """By confidence function, those that were run at all values under the rule ``paper``."""
    values = sorted(protocol(dataset).sweeps[quantity].values)
    return {
        name.confidence: Trend(name.confidence, [points[value] for value in values])
        for name, points in sweep(store, dataset, quantity).items()
        if set(values) <= points.keys()
    }


@dataclass(frozen=True)
class RankingFacts:
    """CRL and FMFP over the datasets: how often nothing was left to learn, and what they gain over vanilla."""

    trained: int
    without_mistakes: int
    """Of ``trained``, those wrong on fewer than one in a thousand training points, on average over seeds."""
    coverage: Range | None
    gain_without_mistakes: Range | None
    gain_with_mistakes: Range | None
    untrained: list[tuple[str, str, float]]
    """Dataset, method and training error where most training points are wrong."""
    auroc: Range | None


def ranking(measured: Mapping[str, Column], trained: Mapping[str, Mapping[str, Mapping[str, float]]]) -> RankingFacts:
    cases = [(dataset, method) for dataset in measured for method in RANKING]
    gains = {case: gain.coverage for case in cases if (gain := training_gain(measured[case[0]], case[1]))}
    errors = {
        (dataset, method): trained[dataset][method]["training_error"]
        for dataset, method in cases
        if method in trained.get(dataset, {})
    }
    without_mistakes = {case for case, error in errors.items() if error < 0.001}
    return RankingFacts(
        trained=len(errors),
        without_mistakes=len(without_mistakes),
        coverage=Range.of(gains.values()),
        gain_without_mistakes=Range.of(gain for case, gain in gains.items() if case in without_mistakes),
        gain_with_mistakes=Range.of(gain for case, gain in gains.items() if case in errors.keys() - without_mistakes),
        untrained=[(*case, error) for case, error in errors.items() if error > 0.5],
        auroc=Range.of(
            of_dataset[method]["auroc"] - of_dataset["vanilla"]["auroc"]
            for of_dataset in trained.values()
            for method in RANKING
            if method in of_dataset and "vanilla" in of_dataset
        ),
    )


class Gap(NamedTuple):
    """How far the smooth error and coverage are from the real ones at worst."""

    error: float
    coverage: float


def surrogate_gaps() -> dict[float, Gap]:
    """By α, in the toy of the appendix."""
    real, *smooth = surrogates.curves()
    return {
        curve.alpha: Gap(abs(curve.error - real.error).max(), abs(curve.coverage - real.coverage).max())
        for curve in smooth
        if curve.alpha is not None
    }
