"""When validation labels are asked for, which rounds set thresholds with them, and how often a label may be used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from labelsieve.engine.settings import RunSettings


@dataclass(frozen=True)
class ValidationPlan:
    """``at_start`` labels are asked for before the first round; ``per_test`` are what each test has to work with.

    kind: ``"fresh"`` draws the labels of a test right before it from what is left of the pool. ``"folds"`` deals those
        there are at the start into as many parts as there will be tests. ``"reuse"`` uses all of them in every round;
        nothing can be promised then.
    ``min_points``: fewest validation points with which a test can pass. ``max_tests``: how many tests delta was shared
    over; they are made in the last rounds, and a run that is continued gets no more.
    """

    kind: Literal["fresh", "folds", "reuse"]
    at_start: int
    per_test: int
    min_points: int
    max_tests: float

    @property
    def single_use(self) -> bool:
        """Whether a label that has set a threshold is never used again."""
        return self.kind != "reuse"

    def tests(self, batches_to_come: int, tests_done: int) -> bool:
        """Whether a round that so many batches of training labels may still follow sets thresholds."""
        return batches_to_come < self.max_tests - tests_done

    def worth_testing(self, share: float) -> float:
        """An expected coverage, or 0 if so small a part of the validation points could not pass a test."""
        return share if share * self.per_test >= self.min_points else 0.0

    def reason_to_stop(self, tests: int, held_out: int, remaining: int, asked_already: bool) -> str | None:
        """Why no later round can label anything by machine, if so, after so many tests.

        ``asked_already``: the labels of the next test are there, or on their way.
        """
        if tests >= self.max_tests:
            return "the labels to check with are used up: each serves one test"
        if self.kind == "fresh" and remaining <= self.per_test and not asked_already:
            return "checking what is left would take as many labels as labelling it"
        tests_left = 1 if self.kind == "reuse" else self.max_tests - tests
        if self.kind != "fresh" and held_out / tests_left < self.min_points:
            return "too few validation points are left to set any threshold"
        return None


def reusing(settings: RunSettings, min_points: int) -> ValidationPlan:
    """All labels at the start, thresholds in every round, the same labels again and again: promises nothing."""
    return ValidationPlan(
        kind="reuse",
        at_start=settings.validation_budget,
        per_test=settings.validation_points,
        min_points=min_points,
        max_tests=math.inf,
    )


def single_use(kind: Literal["fresh", "folds"], settings: RunSettings, min_points: int) -> ValidationPlan:
    """Tests in the last ``certified_rounds`` rounds, which have the best models; each label serves one of them.

    ``"fresh"``: a uniform draw from the pool as it stands makes held-out and pool points a random split of one set,
    whatever queries and machine labels have taken out before, and no label is spent on points that are labelled
    already. ``"folds"``: for validation data that are there beforehand; they are thinned as queries thin the pool.
    """
    rounds = 1 + settings.batches_after(settings.seed_size)
    if settings.max_rounds is not None:
        rounds = min(rounds, settings.max_rounds)
    tests = min(settings.certified_rounds, rounds)
    return ValidationPlan(
        kind=kind,
        at_start=settings.validation_budget if kind == "folds" else 0,
        per_test=settings.validation_points // tests,
        min_points=min_points,
        max_tests=tests,
    )
