"""How cost grows: times at several sizes, and the exponent fitted to them. ``python -m benchmarks.growth``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import labelsieve as ls
from benchmarks.fits import synthetic_images, synthetic_outputs
from benchmarks.harness import seconds
from benchmarks.thresholds import scored
from labelsieve.classifiers import MLP, LeNet5, TorchClassifier
from labelsieve.confidence import Colander, Dirichlet, Softmax
from labelsieve.engine.scoring import score_pool
from labelsieve.queries import MarginRandom
from labelsieve.thresholds import CertifiedRule, PaperRule


@dataclass(frozen=True)
class Growth:
    """Seconds at each size of one variable, and the exponent of the power law through them."""

    name: str
    variable: str
    sizes: list[int]
    seconds: list[float]

    @property
    def exponent(self) -> float:
        """Least squares on the logarithms."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


def results(device: str = "cpu") -> list[Growth]:
    def measured(name: str, variable: str, sizes: list[int], work: Callable[[int], Callable[[], object]]) -> Growth:
        prepared = [work(size) for size in sizes]
        prepared[0]()  # first use is slow
        return Growth(name, variable, sizes, [seconds(one, 3) for one in prepared])

    return [
        measured("`paper` thresholds, 10 classes", "held-out points n", [20_000, 100_000, 500_000], _paper_by_n),
        measured("`paper` thresholds, 100,000 points", "classes k", [5, 20, 80, 320], _paper_by_k),
        measured("`certified` thresholds, 1,000 held out", "pool size", [50_000, 200_000, 800_000], _certified),
        measured("`margin-random` query of 100", "pool size", [50_000, 200_000, 800_000], _query),
        measured("scoring by the 1000-500-30 network", "pool size", [10_000, 20_000, 40_000], _scoring(device)),
        measured("LeNet, 2 epochs", "training points n", [256, 512, 1024], _lenet(device)),
        measured("Colander, 5 epochs, d = 128", "calibration points n", [1000, 2000, 4000], _colander_by_n(device)),
        measured("Colander, 5 epochs, n = 1,000", "features d", [128, 256, 512], _colander_by_d(device)),
        measured("Dirichlet, n = 2,000, 20 steps", "classes k", [25, 50, 100], _dirichlet),
    ]


def _paper_by_n(n: int) -> Callable[[], object]:
    points = scored(n, 10)
    return lambda: PaperRule(tolerance=0.05).estimate(*points, 10)


def _paper_by_k(k: int) -> Callable[[], object]:
    points = scored(100_000, k)
    return lambda: PaperRule(tolerance=0.05).estimate(*points, k)


def _certified(n: int) -> Callable[[], object]:
    held_out, (scores, predicted, _) = scored(1000, 10, seed=1), scored(n, 10)
    rule = CertifiedRule(tolerance=0.05, delta=0.05)
    return lambda: rule.estimate(*held_out, 10, pool_scores=scores, pool_predicted=predicted)


def _query(n: int) -> Callable[[], object]:
    margins = np.random.default_rng(0).uniform(size=n)
    return lambda: MarginRandom().select(margins, margins[:0], 100, np.random.default_rng(0))


def _scoring(device: str) -> Callable[[int], Callable[[], object]]:
    x = np.random.default_rng(0).normal(size=(40_000, 256)).astype(np.float32)
    network = TorchClassifier(MLP(), epochs=1, device=device).fit(x[:200], np.arange(200) % 10, 10, seed=0)
    pool = ls.Pool(x)
    return lambda n: (
        lambda: score_pool(pool, np.arange(n), network, Softmax(), MarginRandom(), lambda _done, _total: None)
    )


def _lenet(device: str) -> Callable[[int], Callable[[], object]]:
    def work(n: int) -> Callable[[], object]:
        x, y = synthetic_images(n, (28, 28))
        return lambda: TorchClassifier(LeNet5(), epochs=2, device=device).fit(x, y, 10, seed=0)

    return work


def _colander_by_n(device: str) -> Callable[[int], Callable[[], object]]:
    def work(n: int) -> Callable[[], object]:
        outputs, y = synthetic_outputs(n, 10, 128)
        return lambda: Colander(epochs=5, early_stopping=None, device=device).fit(outputs, y)

    return work


def _colander_by_d(device: str) -> Callable[[int], Callable[[], object]]:
    def work(d: int) -> Callable[[], object]:
        outputs, y = synthetic_outputs(1000, 10, d)
        return lambda: Colander(epochs=5, early_stopping=None, device=device).fit(outputs, y)

    return work


def _dirichlet(k: int) -> Callable[[], object]:
    outputs, y = synthetic_outputs(2000, k, 8)
    return lambda: Dirichlet(max_iterations=20).fit(outputs, y)


if __name__ == "__main__":
    for growth in results():
        print(f"{growth.name:45} {growth.variable:22} exponent {growth.exponent:.2f}  {np.round(growth.seconds, 4)}")
