"""When validation labels are asked for, which rounds set thresholds with them, and how often a label may be used."""

from __future__ import annotations

import math
from dataclasses import dataclass

from labelsieve.engine.settings import RunSettings
from labelsieve.errors import ConfigurationError


@dataclass(frozen=True)
class ValidationPlan:
    """``at_start`` labels before the first round; ``per_test`` fresh ones before each round that sets thresholds.

    ``first_test`` to ``last_test`` are those rounds. ``single_use``: a label that has set a threshold is never used
    again, without which nothing can be promised. ``min_points``: fewest validation points with which a test can pass.
    ``max_tests``: how many tests delta was shared over; a run that is continued gets no more.
    """

    at_start: int
    per_test: int
    first_test: int
    last_test: float
    single_use: bool
    min_points: int = 1
    max_tests: float = math.inf

    def tests(self, round_number: int) -> bool:
        """Whether this round sets thresholds and labels by machine."""
        return self.first_test <= round_number <= self.last_test

    def reason_to_stop(self, rounds: int, tests: int, held_out: int, remaining: int) -> str | None:
        """Why no later round can label anything by machine, if so, after so many rounds and tests."""
        if rounds >= self.last_test or tests >= self.max_tests:
            return "all certified rounds are done"
        if self.per_test and remaining <= self.per_test:
            return "checking what is left would take as many labels as labelling it"
        if not self.per_test and held_out < self.min_points:
            return "too few validation points are left to set any threshold"
        return None


def reusing(settings: RunSettings, min_points: int) -> ValidationPlan:
    """All labels at the start, thresholds in every round, the same labels again and again: promises nothing."""
    return ValidationPlan(settings.validation_budget, 0, 1, math.inf, single_use=False, min_points=min_points)


def fresh(settings: RunSettings) -> ValidationPlan:
    """Labels drawn from what is left of the pool, right before each of the last ``certified_rounds`` rounds.

    A uniform draw from the pool as it stands makes held-out and pool points a random split of one set, whatever queries
    and machine labels have taken out before. The last rounds have the best models, and no label is spent on points
    that are labelled already.
    """
    rounds = 1 + math.ceil((settings.train_budget - settings.seed_size) / settings.batch_size)
    if settings.max_rounds is not None:
        rounds = min(rounds, settings.max_rounds)
    tests = min(settings.certified_rounds, rounds)
    return ValidationPlan(
        0, settings.validation_budget // tests, rounds - tests + 1, rounds, single_use=True, max_tests=tests
    )


def given_once(settings: RunSettings) -> ValidationPlan:
    """Validation data from outside are like the pool only until active queries have changed it: one test, round 1."""
    if settings.certified_rounds != 1:
        raise ConfigurationError(
            "With validation data given up front only the first round can be certified, since active queries change "
            f"the pool after it; certified_rounds must be 1, got {settings.certified_rounds}."
        )
    return ValidationPlan(0, 0, 1, 1, single_use=True, max_tests=1)
