"""All numbers a report shows, counted once, so that the page, the pictures and ``run.json`` cannot disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from labelsieve.engine.entries import Role, RunStarted
from labelsieve.engine.run import Evaluation, Run
from labelsieve.types import Bools, Label, RoundReport

_BOUND_LEVEL = 0.95


@dataclass(frozen=True)
class Wrong:
    """Wrong labels among those counted."""

    wrong: int
    of: int

    def __add__(self, other: Wrong) -> Wrong:
        return Wrong(self.wrong + other.wrong, self.of + other.of)

    @property
    def share(self) -> float | None:
        """None when there is nothing to count: no labels is not the same as no errors."""
        return self.wrong / self.of if self.of else None

    @property
    def upper_bound(self) -> float:
        """The largest error such a count is compatible with (exact, one-sided, at 95 %)."""
        return 1.0 if self.wrong >= self.of else float(beta.ppf(_BOUND_LEVEL, self.wrong + 1, self.of - self.wrong))


@dataclass(frozen=True, eq=False)
class RoundSummary:
    """One round. ``held_out``: points at or above its thresholds; ``so_far`` takes the rounds before it in."""

    report: RoundReport
    machine_so_far: int
    coverage_so_far: float
    classes_with_threshold: int
    held_out: Wrong
    held_out_so_far: Wrong
    truth: Wrong | None
    truth_so_far: Wrong | None


@dataclass(frozen=True, eq=False)
class ClassSummary:
    """One class: who gave its labels, and how wrong the machine's are."""

    code: int
    name: Label
    human: int
    machine: int
    held_out: Wrong
    truth: Wrong | None


@dataclass(frozen=True, eq=False)
class Evidence:
    """The held-out points one class's threshold rested on in one round."""

    name: Label
    round_number: int
    machine_labels: int
    held_out: Wrong


@dataclass(frozen=True, eq=False)
class Summary:
    """A run in numbers. ``truth`` is None when the truth is not known."""

    pool_size: int
    machine: int
    human: int
    human_by_purpose: Mapping[str, int]
    given_validation: int
    left: int
    coverage: float
    tolerance: float
    certified: bool
    rounds: tuple[RoundSummary, ...]
    classes: tuple[ClassSummary, ...]
    held_out: Wrong
    truth: Wrong | None
    weakest: Evidence | None
    """The machine labels whose held-out points say least; None without machine labels."""

    @property
    def busiest_round(self) -> RoundSummary | None:
        """The round that labelled the most; the last one if none labelled anything."""
        return max(self.rounds, key=lambda row: (row.report.machine_labelled, row.report.number), default=None)


def summarise(run: Run, y_true: Any = None) -> Summary:
    """Count everything; ``y_true`` as in ``run.evaluate``."""
    evaluation = None if y_true is None else run.evaluate(y_true)
    rounds = _rounds(run, evaluation)
    (start,) = (entry for entry in run.ledger if isinstance(entry, RunStarted))
    return Summary(
        pool_size=run.pool_size,
        machine=run.machine_labels,
        human=run.human_labels,
        human_by_purpose=_human_by_purpose(run),
        given_validation=start.n_given_validation,
        left=run.pool_size - len(run.labels),
        coverage=run.coverage,
        tolerance=float(run.settings["tolerance"]),
        certified=bool(run.settings["certified"]),
        rounds=rounds,
        classes=_classes(run, evaluation),
        held_out=sum((row.held_out for row in rounds), Wrong(0, 0)),
        truth=None if evaluation is None else Wrong(len(evaluation.wrong), run.machine_labels),
        weakest=_weakest(run),
    )


def at_or_above(report: RoundReport) -> Bools:
    """Which held-out points the round would have labelled by machine."""
    return report.held_out.scores >= report.thresholds[report.held_out.predicted]


def machine_labels_by_class(run: Run, round_number: int) -> Counter[Label]:
    """What one round labelled, by class."""
    labels = run.labels
    chosen = (labels["source"] == "machine") & (labels["round"] == round_number)
    return Counter(labels.loc[chosen, "label"].tolist())


def _rounds(run: Run, evaluation: Evaluation | None) -> tuple[RoundSummary, ...]:
    rows: list[RoundSummary] = []
    machine, held_out_so_far, truth_so_far = 0, Wrong(0, 0), Wrong(0, 0)
    for position, report in enumerate(run.rounds):
        accepted = at_or_above(report)
        held_out = Wrong(int((accepted & ~report.held_out.correct).sum()), int(accepted.sum()))
        truth = None if evaluation is None else _row(evaluation.per_round, position)
        machine += report.machine_labelled
        held_out_so_far += held_out
        truth_so_far += truth or Wrong(0, 0)
        rows.append(
            RoundSummary(
                report=report,
                machine_so_far=machine,
                coverage_so_far=machine / run.pool_size,
                classes_with_threshold=int(np.isfinite(report.thresholds).sum()),
                held_out=held_out,
                held_out_so_far=held_out_so_far,
                truth=truth,
                truth_so_far=None if truth is None else truth_so_far,
            )
        )
    return tuple(rows)


def _classes(run: Run, evaluation: Evaluation | None) -> tuple[ClassSummary, ...]:
    counts = {
        source: Counter(run.labels.loc[run.labels["source"] == source, "label"].tolist())
        for source in ("human", "machine")
    }
    held_out = [Wrong(0, 0)] * len(run.classes)
    for report in run.rounds:
        held_out = [before + now for before, now in zip(held_out, _by_class(report, len(run.classes)), strict=True)]
    return tuple(
        ClassSummary(
            code=code,
            name=name,
            human=counts["human"][name],
            machine=counts["machine"][name],
            held_out=held_out[code],
            truth=None if evaluation is None else _row(evaluation.per_class, code),
        )
        for code, name in enumerate(run.classes)
    )


def _by_class(report: RoundReport, n_classes: int) -> list[Wrong]:
    """Held-out points at or above the threshold of each class; classes met later count as empty."""
    accepted = at_or_above(report)
    predicted = report.held_out.predicted
    points = np.bincount(predicted[accepted], minlength=n_classes)
    wrong = np.bincount(predicted[accepted & ~report.held_out.correct], minlength=n_classes)
    return [Wrong(int(k), int(n)) for k, n in zip(wrong, points, strict=True)]


def _weakest(run: Run) -> Evidence | None:
    evidence = []
    for report in run.rounds:
        machine = machine_labels_by_class(run, report.number)
        for name, held_out in zip(run.classes, _by_class(report, len(run.classes)), strict=True):
            if machine[name]:
                evidence.append(Evidence(name, report.number, machine[name], held_out))
    return max(evidence, key=lambda item: (item.held_out.upper_bound, item.machine_labels), default=None)


def _row(table: Any, position: int) -> Wrong:
    return Wrong(int(table["wrong"].iloc[position]), int(table["machine_labels"].iloc[position]))


def _human_by_purpose(run: Run) -> dict[str, int]:
    """Held-out labels serve calibration and thresholds in turn, so they are counted together."""
    roles = Counter(run.labels.loc[run.labels["source"] == "human", "role"].tolist())
    named = {
        "to train": (Role.TRAIN,),
        "held out": (Role.VALIDATION, Role.CALIBRATION, Role.THRESHOLD),
        "for the rest": (Role.REST,),
    }
    counts = {purpose: sum(roles[role.name.lower()] for role in group) for purpose, group in named.items()}
    return {purpose: n for purpose, n in counts.items() if n}
