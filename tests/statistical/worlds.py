"""Worlds to try guarantees on, and how a share of failures is judged."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

REPETITIONS = int(os.environ.get("LABELSIEVE_REPETITIONS", 500))


def allowed_failures(delta: float, repetitions: int = REPETITIONS) -> int:
    """Failures that a method which fails with probability delta exceeds in one case of 1,000 only."""
    return int(binom.ppf(0.999, repetitions, delta))


@dataclass(frozen=True)
class World:
    """Scores, predicted classes and mistakes of held-out and pool points drawn from one population."""

    name: str
    held_out: int = 500
    pool: int = 5000
    classes: int = 2
    imbalance: float = 0.0
    accuracy: float = 0.85
    separation: float = 2.0
    tolerance: float = 0.05
    delta: float = 0.1
    shape: str = "binormal"

    def draw(self, rng: np.random.Generator):
        """Scores, predicted and correct of held-out points, then of pool points."""
        n = self.held_out + self.pool
        weights = np.exp(-self.imbalance * np.arange(self.classes))
        predicted = rng.choice(self.classes, size=n, p=weights / weights.sum())
        correct = rng.uniform(size=n) < self.accuracy
        match self.shape:
            case "binormal":
                scores = rng.normal(size=n) + self.separation * correct
            case "classwise":  # some classes are sure and wrong
                scores = rng.normal(size=n) + self.separation * correct * np.where(predicted % 3 == 0, -0.5, 1.0)
            case "trap":  # good at the top, bad just below: the error rises steeply where a threshold would lie
                scores = rng.uniform(size=n)
                correct = rng.uniform(size=n) < np.where(scores > 0.6, 0.975, 0.90)
            case "tied":
                scores = np.round(rng.normal(size=n) + self.separation * correct)
        held_out = slice(0, self.held_out)
        pool = slice(self.held_out, n)
        return (scores[held_out], predicted[held_out], correct[held_out]), (
            scores[pool],
            predicted[pool],
            correct[pool],
        )


WORLDS = [
    World("plain"),
    World("useless score at the tolerance", accuracy=0.948, separation=0.0),
    World("useless score just under the tolerance", accuracy=0.953, separation=0.0, delta=0.2),
    World("perfect score", separation=50.0),
    World("score that points the wrong way", accuracy=0.95, separation=-1.0),
    World("trap under the threshold", shape="trap"),
    World("tied scores", shape="tied", separation=1.5),
    World("pool of 200", pool=200, held_out=400, accuracy=0.95, separation=0.3, delta=0.2),
    World("pool smaller than what is held out", pool=300, held_out=1000, accuracy=0.955, separation=0.2, delta=0.2),
    World("lax tolerance", tolerance=0.2, accuracy=0.795, separation=0.2, delta=0.2),
    World("strict tolerance", tolerance=0.01, held_out=2000, accuracy=0.985, separation=1.0),
    World("twenty classes", classes=20, held_out=1000, shape="classwise"),
    World("imbalanced classes", classes=10, imbalance=0.7, held_out=1000, accuracy=0.9),
    World("two hundred classes", classes=200, held_out=2000, pool=10_000),
]
