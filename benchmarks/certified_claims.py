"""What reckoning with the errors found is worth to the certified rule, in made-up worlds.

``python -m benchmarks.certified_claims``: coverage with claims that reckon with no held-out error at all, and with
those of the rule, which reckon with as many as are usual where the tests end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from labelsieve.expectation import coverage_expected_at
from labelsieve.thresholds import claims
from labelsieve.thresholds.certified import CertifiedRule
from labelsieve.types import Bools, Floats

TOLERANCE, DELTA, REPEATS, NOISE = 0.05, 0.05, 200, 0.5


@dataclass(frozen=True)
class Case:
    """How many points are held out, and a draw of all points: how likely each seems to be right, and which are."""

    held_out: int
    draw: Callable[[np.random.Generator], tuple[Floats, Bools]]


def world(n_pool: int, n_held_out: int, shape: tuple[float, float]) -> Case:
    """shape: of the beta distribution of the probability to be right."""

    def draw(rng: np.random.Generator) -> tuple[Floats, Bools]:
        probability = np.clip(rng.beta(*shape, size=n_pool + n_held_out), 1e-9, 1 - 1e-9)
        right = rng.random(len(probability)) < probability
        return expit(logit(probability) + NOISE * rng.normal(size=len(probability))), right

    return Case(n_held_out, draw)


WORLDS = {
    "500 held out of 10,000": world(9_500, 500, (3.75, 0.2)),
    "300 held out of 2,300": world(2_000, 300, (3.75, 0.2)),
    "300 held out of 2,300, harder": world(2_000, 300, (4.5, 0.3)),
    "1,600 held out of 8,652": world(7_052, 1_600, (0.3, 0.1)),
    "8,000 held out of 88,000, hard": world(80_000, 8_000, (0.5, 0.5)),
    "8,000 held out of 38,000": world(30_000, 8_000, (3, 0.375)),
    "1,000 held out of 4,000": world(3_000, 1_000, (3, 0.375)),
    "500 held out of 1,500": world(1_000, 500, (3, 0.375)),
    "1,000 held out of 2,000": world(1_000, 1_000, (3, 0.375)),
}


def outcome(case: Case, seed: int, is_expected: bool) -> tuple[float, bool]:
    """Coverage, and whether the promise was broken."""
    rng = np.random.default_rng(seed)
    scores, right = case.draw(rng)
    held_out = rng.permutation(len(scores)) < case.held_out
    n_pool = len(scores) - case.held_out
    (threshold,) = CertifiedRule(TOLERANCE, DELTA).estimate(
        scores[held_out],
        np.zeros(case.held_out, dtype=np.int64),
        right[held_out],
        1,
        pool_scores=scores[~held_out],
        pool_predicted=np.zeros(n_pool, dtype=np.int64),
        n_waiting=0,
        may_label=np.ones(1, dtype=bool),
        expected_coverage=coverage_expected_at(TOLERANCE, scores) if is_expected else None,
    )
    labelled = scores[~held_out] >= threshold
    return float(labelled.mean()), int((~right[~held_out] & labelled).sum()) > TOLERANCE * labelled.sum()


def outcomes(case: Case, is_expected: bool) -> tuple[float, int]:
    """Mean coverage in percent, and how often the promise was broken."""
    coverages, broken = zip(*(outcome(case, seed, is_expected) for seed in range(REPEATS)), strict=True)
    return 100 * float(np.mean(coverages)), sum(broken)


def cells(found: Iterable[tuple[float, int]]) -> str:
    return " | ".join(f"{coverage:.1f} %, {broken} of {REPEATS} broken" for coverage, broken in found)


def main() -> None:
    shares = {"no errors": 1.0, "usual errors": claims._SHARE_FOR_FEWER_ERRORS}
    print("| world | coverage expected | " + " | ".join(shares) + " |\n|---|---|---|---|")
    for name, case in WORLDS.items():
        for is_expected in (True, False):
            found = []
            for share in shares.values():
                claims._SHARE_FOR_FEWER_ERRORS = share
                found.append(outcomes(case, is_expected))
            print(f"| {name} | {'yes' if is_expected else 'no'} | {cells(found)} |", flush=True)


if __name__ == "__main__":
    main()
