"""What the residual network and semi-supervised training bring: ``python -m benchmarks.training_recipe DATA``.

Prints share right and coverage at 5 % and 1 % error, one threshold on the softmax chosen in hindsight, on points of the
search, which are in no run's pool: those that are not labelled, whose inputs semi-supervised training has seen. The
name of a dataset after DATA leaves the others out: newsgroups20 takes a minute, mnist half an hour on a CPU.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from experiments.paper.configuration import protocol
from experiments.paper.datasets import load, search_division
from labelsieve import registry
from labelsieve.classifiers import Classifier
from labelsieve.expectation import coverage_at

SEEDS = range(5)
CASES = {
    "newsgroups20": [
        (name, training, n) for n in (500, 2000) for name in ("embedding", "logistic")
        for training in ("vanilla", "semi-supervised")
    ],
    "mnist": [
        ("lenet", "vanilla", 200), ("resnet", "vanilla", 200), ("lenet", "vanilla", 500), ("resnet", "vanilla", 500),
        ("lenet", "semi-supervised", 500),
    ],
}  # fmt: skip


def measured(classifier: Classifier, x: np.ndarray, y: np.ndarray, n: int, seed: int) -> tuple[float, ...]:
    """Share right, coverage at 5 % and at 1 % error, seconds."""
    labelled, others = np.split(np.random.default_rng(seed).permutation(len(y)), [n])
    unlabelled = {"unlabelled": x[others]} if classifier.unlabelled_wanted else {}
    started = time.perf_counter()
    fitted = classifier.fit(x[labelled], y[labelled], int(y.max()) + 1, seed=seed, **unlabelled)
    seconds = time.perf_counter() - started
    outputs = fitted.outputs(x[others])
    right, scores = outputs.predicted == y[others], outputs.probabilities.max(axis=1)
    return 100 * right.mean(), *(100 * coverage_at(error, scores, right) for error in (0.05, 0.01)), seconds


def main() -> None:
    folder, datasets = Path(sys.argv[1]), sys.argv[2:] or list(CASES)
    print("| classifier | training | labels | right | coverage at 5 % | at 1 % | seconds |\n|" + "---|" * 7)
    for dataset in datasets:
        room = search_division(load(dataset, folder), protocol(dataset))
        x = np.concatenate([room.pool.x, room.validation.x, room.hyp.x])
        y = np.concatenate([room.pool.y, room.validation.y, room.hyp.y])
        for name, training, n in CASES[dataset]:
            method = registry.create("training", training)
            classifier = registry.create("classifier", name).with_training(method)
            right, at_5, at_1, seconds = np.mean([measured(classifier, x, y, n, seed) for seed in SEEDS], axis=0)
            print(
                f"| `{name}` | `{training}` | {n} | {right:.1f} % | {at_5:.1f} % | {at_1:.1f} % | {seconds:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
