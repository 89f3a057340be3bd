"""What it brings that a run may stop asking by itself: ``python -m benchmarks.stopping DATA [SEEDS]``.

Whole certified runs at the same budgets, on tables and on points of MNIST, 20 Newsgroups and CIFAR-10 that are in no
pool: with all labels that may be asked for, in the batches of the paper; stopping early with these; and stopping early
with batches that grow, which is what a run does where models are trained in seconds.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import labelsieve as ls
from benchmarks.choosing_heads import Problem, problems
from experiments.coverage.running import seen, words
from experiments.paper.configuration import protocol
from experiments.paper.datasets import Points, load, search_division
from labelsieve.errors import LabelsieveWarning

WAYS = ("all labels", "stopping", "stopping, growing batches")


def main(data: Path, seeds: int) -> None:
    warnings.simplefilter("ignore", LabelsieveWarning)
    print(f"| data | labels: at most, to check | {' | '.join(WAYS)} | gain of the last |")
    print("|---|---|" + "---|" * (len(WAYS) + 1), flush=True)
    for name, problem in {**problems(data), **embeddings(data)}.items():
        found = {way: np.array([_measured(problem, way, seed) for seed in range(seeds)]) for way in WAYS}
        cells = [
            f"{labels:.0f}: {coverage:.1f} % @ {error:.1f} ({within}/{seeds}), {seconds:.0f} s"
            for rows in found.values()
            for (labels, coverage, error, seconds), within in [(rows.mean(axis=0), int((rows[:, 2] <= 5).sum()))]
        ]
        gain = found[WAYS[-1]][:, 1] - found[WAYS[0]][:, 1]
        cells.append(f"{gain.mean():+.1f} ± {gain.std(ddof=1) / seeds**0.5:.1f}")
        print(f"| {name} | {problem[2]:,}, {problem[3]:,} | {' | '.join(cells)} |", flush=True)


def embeddings(data: Path) -> dict[str, Problem]:
    """Points, labels, training budget and validation budget, of rows of length 1."""
    posts, own = _room("newsgroups20", data)
    both = np.hstack([posts.x.astype(np.float32)[own], words(data, "newsgroups20", tuple(own.tolist()))])
    photographs, taken = _room("cifar10", data)
    features = seen(photographs, "cifar10")[taken]
    return {
        "posts, embeddings": (posts.x[own].astype(np.float32), posts.y[own], 1_300, 1_300),
        "posts, words beside embeddings": (both, posts.y[own], 1_300, 1_300),
        "photographs": (features, photographs.y[taken], 3_000, 2_000),
        "photographs, fewer": (features[:4_000], photographs.y[taken][:4_000], 800, 800),
    }


def _room(name: str, data: Path) -> tuple[Points, Any]:
    """All points, and the rows that the search has for itself."""
    points = load(name, data)
    room = search_division(Points(np.arange(len(points)), points.y), protocol(name))
    return points, np.concatenate([part.x for part in (room.pool, room.validation, room.hyp)]).astype(np.int64)


def _sizes(way: str, budget: int) -> dict[str, int]:
    """Of the batches, where a run does not choose them."""
    return {"seed_size": round(0.4 * budget), "batch_size": round(0.2 * budget)} if way == "stopping" else {}


def _measured(problem: Problem, way: str, seed: int) -> tuple[float, float, float, float]:
    """Labels to learn from, coverage and error in percent, seconds."""
    x, y, budget, validation = problem
    started = time.perf_counter()
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(y), classes=int(y.max()) + 1, train_budget=budget, validation_budget=validation,
        random_state=seed, progress=False, stop_early=way != WAYS[0], **_sizes(way, budget),
    )  # fmt: skip
    found = run.evaluate(y)
    seconds = time.perf_counter() - started
    return run.rounds[-1].train_points, 100 * found.coverage, 100 * (found.error or 0), seconds


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10)
