"""What the automatic choice of confidence costs beside plain softmax, the classifier's training left out.

``python -m benchmarks.automatic_choice``: 50,000 points, fitted and scored as the loop does it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence import Auto, Softmax
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.data.pool import Pool
from labelsieve.engine.scoring import score_pool
from labelsieve.queries import MarginRandom
from labelsieve.registry import create
from labelsieve.types import Array, Ints, joined

POINTS = 50_000
FOLDS = 4
REPEATS = 3


def embeddings(rng: np.random.Generator, n: int, k: int = 20, width: int = 384) -> tuple[Array, Ints]:
    y = rng.integers(k, size=n)
    x = rng.normal(size=(n, width)).astype(np.float32)
    x[np.arange(n), y] += 6
    return x / np.linalg.norm(x, axis=1, keepdims=True), y


def images(rng: np.random.Generator, n: int) -> tuple[Array, Ints]:
    y = rng.integers(10, size=n)
    x = rng.integers(0, 120, size=(n, 28, 28)).astype(np.uint8)
    for row, label in enumerate(y):
        x[row, 2 * label : 2 * label + 6, 4:24] += 60
    return x, y


def compare(name: str, classifier: str, draw: Callable[..., tuple[Array, Ints]], training_points: int) -> None:
    rng = np.random.default_rng(0)
    x, y = draw(rng, training_points)
    pool, _ = draw(rng, POINTS)
    k = int(y.max()) + 1
    model = _trained(classifier, x, y, k)
    fold = np.arange(training_points) % FOLDS
    folds = [(_trained(classifier, x[fold != f], y[fold != f], k), x[fold == f]) for f in range(FOLDS)]
    labels = np.concatenate([y[fold == f] for f in range(FOLDS)])
    labels[::10] = (labels[::10] + 1) % k  # so that there are mistakes to learn from

    def softmax() -> ConfidenceFunction:
        return Softmax().fit(model.outputs(x[:1]), y[:1])

    def auto() -> ConfidenceFunction:
        return Auto(tolerance=0.05).fit(joined([of_fold.outputs(points) for of_fold, points in folds]), labels)

    seconds = {made.__name__: min(_seconds(made, model, pool) for _ in range(REPEATS)) for made in (softmax, auto)}
    print(
        f"{name}: softmax {seconds['softmax']:.2f} s, auto {seconds['auto']:.2f} s, "
        f"{seconds['auto'] / seconds['softmax']:.2f} times as long"
    )


def _trained(name: str, x: Array, y: Ints, k: int) -> Classifier:
    made: Classifier = create("classifier", name)
    return made.fit(x, y, k, seed=0)


def _seconds(made: Callable[[], ConfidenceFunction], model: Classifier, pool: Array) -> float:
    model.neighbours_ = None
    started = time.perf_counter()
    score_pool(Pool(pool), np.arange(len(pool)), model, made(), MarginRandom(), lambda *_: None)
    return time.perf_counter() - started


if __name__ == "__main__":
    compare("embeddings, 384 wide, 500 training points", "embedding", embeddings, 500)
    compare("embeddings, 384 wide, 2,000 training points", "embedding", embeddings, 2000)
    compare("28 × 28 images, LeNet, 500 training points", "lenet", images, 500)
