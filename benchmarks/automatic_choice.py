"""What the automatic choice of confidence costs beside plain softmax, the training of classifiers left out.

``python -m benchmarks --parts choice``: whole runs over 50,000 points; ``--points 1000000`` takes as many embeddings.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import labelsieve as ls
from benchmarks.harness import Row
from labelsieve.classifiers.base import Classifier
from labelsieve.types import Array, Ints

USUAL_POINTS, HELD_OUT = 50_000, 2_000
REPEATS = 3
Draw = Callable[[np.random.Generator, int], tuple[Array, Ints]]


def embeddings(rng: np.random.Generator, n: int, k: int = 20, width: int = 384) -> tuple[Array, Ints]:
    y = rng.integers(k, size=n)
    x = rng.normal(size=(n, width)).astype(np.float32)
    x[np.arange(n), y] += 4
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


def images(rng: np.random.Generator, n: int) -> tuple[Array, Ints]:
    y = rng.integers(10, size=n)
    x = rng.integers(0, 200, size=(n, 28, 28)).astype(np.uint8)
    for row, label in enumerate(y):
        x[row, 2 * label : 2 * label + 6, 4:24] += 20
    return x, y


class Stopwatch:
    """Adds up the time that classifiers train."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._fit = Classifier.fit

    def __enter__(self) -> Stopwatch:
        def timed(classifier: Classifier, *args: Any, **keywords: Any) -> Classifier:
            started = time.perf_counter()
            fitted = self._fit(classifier, *args, **keywords)
            self.seconds += time.perf_counter() - started
            return fitted

        Classifier.fit = timed  # type: ignore[method-assign,assignment]
        return self

    def __exit__(self, *_: object) -> None:
        Classifier.fit = self._fit  # type: ignore[method-assign]


def results(points: int = USUAL_POINTS) -> list[Row]:
    """Embeddings under each classifier for them, as trained by default and plainly; and images."""
    rows = [
        _row(
            f"{points:,} × 384, {labels:,} labels, `{classifier}`, {training}",
            classifier,
            embeddings,
            labels,
            training,
            points,
        )
        for labels in (500, 2000)
        for classifier in ("kernel", "embedding")
        for training in ("vanilla", "semi-supervised")
        if points == USUAL_POINTS or (labels, classifier) == (2000, "kernel")
    ]
    if points == USUAL_POINTS:
        rows.append(
            _row(f"{points:,} × 28 × 28, 500 labels, `lenet`, vanilla", "lenet", images, 500, "vanilla", points)
        )
    return rows


def _row(name: str, classifier: str, draw: Draw, train_budget: int, training: str, points: int) -> Row:
    """``naive`` is softmax."""
    repeats = REPEATS if points == USUAL_POINTS else 1
    best = {}
    for confidence in ("softmax", "auto"):
        times = [_seconds(classifier, draw, train_budget, training, confidence, points) for _ in range(repeats)]
        best[confidence] = min(times, key=lambda time: time[0])
    (softmax, _), (auto, chosen) = best["softmax"], best["auto"]
    note = f"{chosen} chosen; naive is softmax, and the choice takes {auto / softmax:.1f} times as long"
    return Row(f"automatic choice, {name}", auto, softmax, note=note)


def _seconds(
    classifier: str, draw: Draw, train_budget: int, training: str, confidence: str, points: int
) -> tuple[float, str | None]:
    """Without training, and what was chosen."""
    rng = np.random.default_rng(0)
    (x, y), held_out = draw(rng, points), draw(rng, HELD_OUT)
    started = time.perf_counter()
    with Stopwatch() as of_training:
        run = ls.autolabel(
            x,
            ls.SimulatedAnnotator(y),
            validation=held_out,
            classes=int(y.max()) + 1,
            train_budget=train_budget,
            classifier=classifier,
            training=training,
            confidence=confidence,
            stop_early=False,  # in as many rounds, whatever the confidence function
            progress=False,
        )
    chosen = run.rounds[-1].confidence_choice
    return time.perf_counter() - started - of_training.seconds, chosen and chosen.split(".")[0]
