"""What reckoning with the errors found is worth to the certified rule, in made-up worlds.

``python -m benchmarks.certified_claims``: coverage with claims that reckon with no held-out error at all, and with
those of the rule, which reckon with as many as are usual where the tests end.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from labelsieve.expectation import coverage_expected_at
from labelsieve.thresholds import certified
from labelsieve.thresholds.certified import CertifiedRule

TOLERANCE, DELTA, REPEATS, NOISE = 0.05, 0.05, 200, 0.5
WORLDS = {
    # pool, held out, and the beta distribution of the probability to be right
    "500 held out of 10,000": (9_500, 500, (3.75, 0.2)),
    "300 held out of 2,300": (2_000, 300, (3.75, 0.2)),
    "300 held out of 2,300, harder": (2_000, 300, (4.5, 0.3)),
    "1,600 held out of 8,652": (7_052, 1_600, (0.3, 0.1)),
    "8,000 held out of 88,000, hard": (80_000, 8_000, (0.5, 0.5)),
    "8,000 held out of 38,000": (30_000, 8_000, (3, 0.375)),
    "1,000 held out of 4,000": (3_000, 1_000, (3, 0.375)),
    "500 held out of 1,500": (1_000, 500, (3, 0.375)),
    "1,000 held out of 2,000": (1_000, 1_000, (3, 0.375)),
}


def outcome(world: tuple[int, int, tuple[float, float]], seed: int, is_expected: bool) -> tuple[float, bool]:
    """Coverage, and whether the promise was broken."""
    n_pool, n_held_out, shape = world
    rng = np.random.default_rng(seed)
    probability = np.clip(rng.beta(*shape, size=n_pool + n_held_out), 1e-9, 1 - 1e-9)
    right = rng.random(len(probability)) < probability
    scores = expit(logit(probability) + NOISE * rng.normal(size=len(probability)))
    held_out = rng.permutation(len(scores)) < n_held_out
    (threshold,) = CertifiedRule(TOLERANCE, DELTA).estimate(
        scores[held_out],
        np.zeros(n_held_out, dtype=np.int64),
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


def main() -> None:
    shares = {"no errors": 1.0, "usual errors": certified._SHARE_FOR_FEWER_ERRORS}
    print("| world | coverage expected | " + " | ".join(shares) + " |\n|---|---|---|---|")
    for name, world in WORLDS.items():
        for is_expected in (True, False):
            cells = []
            for share in shares.values():
                certified._SHARE_FOR_FEWER_ERRORS = share
                coverages, broken = zip(*(outcome(world, s, is_expected) for s in range(REPEATS)), strict=True)
                cells.append(f"{100 * np.mean(coverages):.1f} %, {sum(broken)} of {REPEATS} broken")
            print(f"| {name} | {'yes' if is_expected else 'no'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
