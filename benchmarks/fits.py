"""Fits, alone and many at once: ``python -m benchmarks.fits [--device cuda]``."""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np

from benchmarks.harness import Row, seconds, table
from benchmarks.naive import fit_colander, train_network
from labelsieve.classifiers import MLP, LeNet5, SimpleCNN, TorchClassifier
from labelsieve.confidence import Colander, Dirichlet
from labelsieve.engine.requests import FitConfidence, TrainClassifier
from labelsieve.engine.together import fit_together
from labelsieve.types import Outputs

PAPER = {"anchor": None, "batch_size": 64, "early_stopping": None, "cosine_period": 100}
"""Colander's printed form, as the paper fits it."""
GRID = list(product((0.01, 0.1, 1.0), (10.0, 100.0), (0.01, 0.1), (0.01, 0.1, 1.0)))
"""The paper's 36 settings: alpha, penalty, learning rate, weight decay."""


def synthetic_outputs(n: int, k: int, d: int, seed: int = 0) -> tuple[Outputs, np.ndarray]:
    """Outputs of a classifier that is surer where it is right."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    strength = rng.uniform(0, 4, size=n)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), y] += strength
    features = rng.normal(size=(n, d)) + 0.3 * strength[:, None]
    return Outputs(logits.astype(np.float32), features.astype(np.float32)), y


def synthetic_images(n: int, shape: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ten classes of noise, each a little brighter than the one before."""
    rng = np.random.default_rng(seed)
    y = rng.integers(10, size=n)
    return (rng.normal(size=(n, *shape)) * 40 + 80 + 8 * y.reshape(-1, *[1] * len(shape))).clip(0, 255).astype(
        np.uint8
    ), y


def colander_requests(settings: list[Any], seeds: int, n: int, d: int, **options: Any) -> list[FitConfidence]:
    data = [synthetic_outputs(n, 10, d, seed) for seed in range(seeds)]
    return [
        FitConfidence(
            Colander(alpha=alpha, penalty=penalty, learning_rate=rate, weight_decay=decay, **options),
            *data[seed],
            seed=seed,
        )
        for alpha, penalty, rate, decay in settings
        for seed in range(seeds)
    ]


def training_requests(classifier: Any, members: int, n: int, shape: tuple[int, ...]) -> list[TrainClassifier]:
    return [TrainClassifier(classifier, *synthetic_images(n, shape, m), n_classes=10, seed=m) for m in range(members)]


def one_by_one(requests: list[Any]) -> list[Any]:
    return [fitted for request in requests for fitted in fit_together([request])]


def results(device: str, quick: bool = False) -> list[Row]:
    """Ours beside the naive way. What takes long alone is measured for few epochs or members and multiplied."""
    gpu = device == "cuda"
    one_by_one(colander_requests(GRID[:1], 1, 200, 20, epochs=2, device=device, **PAPER))  # first use is slow
    return [*_colander(device, gpu, quick), *_networks(device, gpu), *_dirichlet(gpu)]


def _colander(device: str, gpu: bool, quick: bool) -> list[Row]:
    outputs, y = synthetic_outputs(4000, 10, 512)
    default = seconds(lambda: Colander(device=device, random_state=0).fit(outputs, y))
    epochs = 500 if gpu else 5
    scale = 500 / epochs
    alone = scale * seconds(lambda: Colander(device=device, epochs=epochs, **PAPER).fit(outputs, y))
    naive_epochs = 20 if gpu else 5
    naive = 500 / naive_epochs * seconds(lambda: fit_colander(outputs, y, naive_epochs, device))
    measured = f"ours {epochs}, naive {naive_epochs} epochs measured"
    rows = [
        Row("Colander, 4,000 × 522, one default fit", default),
        Row("Colander, 4,000 × 522, the paper's 500 epochs of batches of 64", alone, naive, note=measured),
    ]
    if gpu:
        for precision in ("full", "tf32"):
            options = {**PAPER, "device": device, "epochs": 50 if quick else 500, "precision": precision}
            requests = colander_requests(GRID, 5, 4000, 512, **options)
            together = seconds(lambda requests=requests: fit_together(requests)) * (10 if quick else 1)  # type: ignore[misc]
            name = f"Colander, 36 settings × 5 seeds, 4,000 × 522, 500 epochs, precision {precision}"
            rows += [
                Row(f"{name}, against one by one", together, 180 * alone, note="one by one: one fit × 180, full"),
                Row(f"{name}, against a DataLoader loop", together, 180 * naive, note="naive: one fit × 180"),
            ]
    else:
        requests = colander_requests(GRID[:8], 2, 1000, 20, device=device, epochs=5, **PAPER)
        rows.append(
            Row("Colander, 8 settings × 2 seeds, 1,000 × 30, 5 epochs, together against one by one",
                seconds(lambda: fit_together(requests), 2), seconds(lambda: one_by_one(requests), 2))
        )  # fmt: skip
        requests = colander_requests(GRID[:4], 1, 4000, 512, device=device, epochs=2, **PAPER)
        rows.append(
            Row("Colander, 4 settings, 4,000 × 522, 2 epochs, together against one by one",
                seconds(lambda: fit_together(requests)), seconds(lambda: one_by_one(requests)),
                note="weights outgrow the caches, so a CPU takes them one by one in both")
        )  # fmt: skip
    return rows


def _networks(device: str, gpu: bool) -> list[Row]:
    lenet = TorchClassifier(LeNet5(), epochs=50, device=device)
    x, y = synthetic_images(500, (28, 28))
    alone = seconds(lambda: lenet.fit(x, y, 10, seed=0))
    naive = seconds(lambda: train_network(LeNet5(), x, y, 50, device))
    rows = [Row("LeNet, 500 images, 50 epochs, against a DataLoader loop", alone, naive)]
    members = 30 if gpu else 2
    requests = training_requests(lenet, members, 500, (28, 28))
    one = members * alone if gpu else seconds(lambda: one_by_one(requests))
    rows.append(
        Row(f"LeNet, {members} members, together against one by one", seconds(lambda: fit_together(requests)), one)
    )
    linear = TorchClassifier(MLP(hidden=()), epochs=20, device=device)
    requests = training_requests(linear, 20, 300, (64,))
    rows.append(
        Row("linear, 20 members, 300 × 64, 20 epochs, together against one by one",
            seconds(lambda: fit_together(requests), 2), seconds(lambda: one_by_one(requests), 2))
    )  # fmt: skip
    if gpu:
        x, y = synthetic_images(4000, (32, 32, 3))
        for precision in ("full", "tf32", "bf16"):
            cnn = TorchClassifier(SimpleCNN(), epochs=8, device=device, precision=precision)
            cnn.fit(x[:200], y[:200], 10, seed=0)
            ours = seconds(lambda cnn=cnn: cnn.fit(x, y, 10, seed=0))  # type: ignore[misc]
            naive = None
            if precision == "full":
                naive = 8 * seconds(lambda: train_network(SimpleCNN(), x, y, 1, device))
            rows.append(Row(f"CNN, 4,000 images, 8 epochs, precision {precision}", ours, naive))
        requests = training_requests(cnn, 8, 4000, (32, 32, 3))
        rows.append(
            Row(f"CNN, 8 members, 4,000 images, 8 epochs, precision {precision}, together against one by one",
                seconds(lambda: fit_together(requests)), seconds(lambda: one_by_one(requests)))
        )  # fmt: skip
    return rows


def _dirichlet(gpu: bool) -> list[Row]:
    if gpu:
        return []
    outputs, y = synthetic_outputs(4000, 200, 32)
    return [Row("Dirichlet, 4,000 points, 200 classes", seconds(lambda: Dirichlet().fit(outputs, y)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true", help="a tenth of the epochs where they are many")
    arguments = parser.parse_args()
    print(table(results(arguments.device, arguments.quick)))


if __name__ == "__main__":
    main()
