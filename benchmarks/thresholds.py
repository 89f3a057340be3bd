"""Threshold estimation: ``python benchmarks/thresholds.py``."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, seconds, table
from labelsieve.thresholds import CertifiedRule, PaperRule


def scored(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, predicted classes, and whether those are right: 85 % are, and more at the top."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(size=n)
    return scores, rng.integers(k, size=n), rng.uniform(size=n) < 0.7 + 0.3 * scores


def naive_thresholds(scores: list[float], predicted: list[int], correct: list[bool], k: int) -> list[float]:
    """The paper's rule as one would first write it: per class, every score against every other."""
    thresholds = []
    for wanted in range(k):
        best = float("inf")
        for candidate, of_class in zip(scores, predicted, strict=True):
            if of_class != wanted:
                continue
            above = [c for s, p, c in zip(scores, predicted, correct, strict=True) if p == wanted and s >= candidate]
            error = above.count(False) / len(above)
            if len(above) >= 11 and error + 0.25 * (error * (1 - error)) ** 0.5 <= 0.05:
                best = min(best, candidate)
        thresholds.append(best)
    return thresholds


def results() -> list[Row]:
    points = scored(4000, 10)
    rule = PaperRule(tolerance=0.05)
    as_lists = [values.tolist() for values in points]
    expected: list[float] = []
    naive = seconds(lambda: expected.extend(naive_thresholds(*as_lists, 10)))
    np.testing.assert_array_equal(rule.estimate(*points, 10), expected)
    rows = [
        Row("`paper` thresholds, 4,000 points, 10 classes", seconds(lambda: rule.estimate(*points, 10), 20), naive),
    ]
    many = scored(1_000_000, 200)
    rows.append(Row("`paper` thresholds, 1,000,000 points, 200 classes", seconds(lambda: rule.estimate(*many, 200), 3)))
    certified = CertifiedRule(tolerance=0.05, delta=0.05)
    pool_scores, pool_predicted, _ = many
    held_out = scored(4000, 200, seed=1)
    rows.append(
        Row(
            "`certified` thresholds, 4,000 held out, pool of 1,000,000, 200 classes",
            seconds(
                lambda: certified.estimate(*held_out, 200, pool_scores=pool_scores, pool_predicted=pool_predicted), 3
            ),
        )
    )
    return rows


if __name__ == "__main__":
    print(table(results()))
