"""What labels that spread bring to runs over embeddings: ``python -m benchmarks.spreading DATA [SEEDS]``.

Certified runs with semi-supervised and with plain training, at the same numbers of labels, over the posts of 20
Newsgroups that are in no run's pool: 2,600 as the pool and 1,600 to check with, drawn anew for each seed. Half
an hour for twelve seeds.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

import labelsieve as ls
from experiments.coverage.running import words
from experiments.paper.configuration import protocol
from experiments.paper.datasets import Points, load, search_division
from labelsieve.errors import LabelsieveWarning

DATASET, POOL = "newsgroups20", 2600
BUDGETS = (800, 1300)


def measured(x: np.ndarray, y: np.ndarray, budget: int, training: str, seed: int) -> tuple[float, float, float]:
    """Coverage and error in percent, and seconds of processor time."""
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelsieveWarning)
        run = ls.autolabel(
            x[:POOL],
            ls.SimulatedAnnotator(y[:POOL]),
            validation=(x[POOL:], y[POOL:]),
            classes=int(y.max()) + 1,
            train_budget=budget,
            classifier="embedding",
            training=training,
            random_state=seed,
            stop_early=False,
            progress=False,
        )
    found = run.evaluate(y[:POOL])
    return 100 * found.coverage, 100 * (found.error or 0), time.process_time() - started


def main() -> None:
    folder, n_seeds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    points = load(DATASET, folder)
    room = search_division(Points(np.arange(len(points)), points.y), protocol(DATASET))
    own = np.concatenate([part.x for part in (room.pool, room.validation, room.hyp)]).astype(np.int64)
    print("| features | labels | plain | semi-supervised | gain | largest errors | seconds |\n|" + "---|" * 7)
    for features in ("embeddings", "words", "words beside embeddings"):
        for budget in BUDGETS:
            rows = []
            for seed in range(n_seeds):
                drawn = np.random.default_rng(seed).permutation(own)
                parts = [points.x[drawn].astype(np.float32)] if "embeddings" in features else []
                parts += [words(folder, DATASET, tuple(drawn.tolist()))] if "words" in features else []
                x = np.hstack(parts)
                rows.append([measured(x, points.y[drawn], budget, how, seed) for how in ("vanilla", "semi-supervised")])
            coverage, error, seconds = np.moveaxis(np.array(rows), 2, 0)
            gain = coverage[:, 1] - coverage[:, 0]
            plain, spreading = coverage.mean(axis=0)
            print(
                f"| {features} | {budget:,} | {plain:.1f} % | {spreading:.1f} % "
                f"| {gain.mean():+.1f} ± {gain.std(ddof=1) / n_seeds**0.5:.1f} "
                f"| {error[:, 0].max():.1f} %, {error[:, 1].max():.1f} % "
                f"| {seconds[:, 0].mean():.1f}, {seconds[:, 1].mean():.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
