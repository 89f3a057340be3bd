"""What it brings to let training labels choose what learns from rows of numbers:
``python -m benchmarks.choosing_heads DATA [SEEDS]``.

Whole certified runs on small tables, and on points of MNIST and 20 Newsgroups that are in no pool. No features have
unit length, which would tell that they are embeddings.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA

import labelsieve as ls
from experiments.paper.configuration import protocol
from experiments.paper.datasets import load, search_division
from labelsieve.errors import LabelsieveWarning
from labelsieve.types import Array, Ints

CLASSIFIERS = ("logistic", "embedding", "kernel", "features")
Problem = tuple[Array, Ints, int, int]


def problems(data: Path) -> dict[str, Problem]:
    """Points, labels, training budget and validation budget."""
    digits, cancer = load_digits(), load_breast_cancer()
    posts, images = _outside_pools("newsgroups20", data), _outside_pools("mnist", data)
    pixels = images[0].reshape(len(images[0]), -1) / 255.0
    return {
        "a table of measurements (breast cancer)": (cancer.data, cancer.target, 60, 120),
        "8 × 8 digits": (digits.data, digits.target, 150, 300),
        "MNIST, 40 components": (_components(pixels, 40), images[1], 200, 400),
        "posts, 200 components of MiniLM": (_components(posts[0], 200), posts[1], 600, 600),
    }


def _outside_pools(name: str, data: Path) -> tuple[Array, Ints]:
    """What the hyper-parameter search has for itself."""
    points = search_division(load(name, data), protocol(name))
    return (
        np.concatenate([points.pool.x, points.validation.x]).astype(np.float32),
        np.concatenate([points.pool.y, points.validation.y]),
    )


def _components(x: Array, n: int) -> Array:
    return np.asarray(PCA(n, random_state=0).fit_transform(x), dtype=np.float32)


def main() -> None:
    warnings.simplefilter("ignore", LabelsieveWarning)
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    print(f"| data | points | labels | {' | '.join(f'`{name}`' for name in CLASSIFIERS)} |")
    print("|---|---|---|" + "---|" * len(CLASSIFIERS))
    for name, (x, y, train, validation) in problems(Path(sys.argv[1])).items():
        cells = []
        for classifier in CLASSIFIERS:
            coverages = [
                ls.autolabel(
                    x, ls.SimulatedAnnotator(y), classes=int(y.max()) + 1, train_budget=train,
                    validation_budget=validation, classifier=classifier, training="vanilla", random_state=seed,
                    stop_early=False, progress=False,
                ).coverage
                for seed in range(seeds)
            ]  # fmt: skip
            cells.append(f"{np.mean(coverages):.1%} ± {np.std(coverages, ddof=1) / np.sqrt(seeds):.1%}")
        print(f"| {name} | {len(x):,} | {train:,} + {validation:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
