"""Whole runs: ``python -m benchmarks.runs DATA [--device cuda]``. DATA holds mnist, and cifar10 for the GPU."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import labelsieve as ls
from benchmarks.harness import Row, seconds, table
from labelsieve.classifiers import SimpleCNN, TorchClassifier
from labelsieve.errors import LabelsieveWarning

PRECISIONS = ("full", "tf32", "bf16")
TRAININGS = ("vanilla", "squentropy", "crl", "fmfp")
CONFIDENCES = ("softmax", "temperature", "top-label-binning", "scaling-binning", "dirichlet", "colander")


def mnist(data: Path) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """The paper's protocol: a pool of 48,000, N_t = N_v = 500, 16 rounds."""
    stored = np.load(data / "mnist" / "mnist.npz")
    x, y = stored["x_train"], stored["y_train"].astype(int)
    settings = {
        "classes": 10, "train_budget": 500, "seed_size": 200, "batch_size": 20, "classifier": "lenet",
        "thresholds": "paper", "validation": (x[:500], y[:500]), "progress": False,
    }  # fmt: skip
    return x[12_000:], y[12_000:], settings


def cifar10(data: Path) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """A pool of 40,000, N_v = 8,000, 4 rounds from 4,000 to 10,000 training labels."""
    x, y = cifar10_images(data)
    settings = {
        "classes": 10, "train_budget": 10_000, "seed_size": 4_000, "batch_size": 2_000, "thresholds": "paper",
        "validation": (x[40_000:48_000], y[40_000:48_000]), "confidence": "colander", "progress": False,
    }  # fmt: skip
    return x[:40_000], y[:40_000], settings


def cifar10_images(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """All 50,000 training images from their mosaics."""
    from PIL import Image

    def tiles(path: Path) -> np.ndarray:
        mosaic = np.asarray(Image.open(path).convert("RGB")).reshape(100, 32, 100, 32, 3)
        return mosaic.transpose(0, 2, 1, 3, 4).reshape(10_000, 32, 32, 3)

    folder = data / "cifar10"
    x = np.concatenate([tiles(folder / f"data_batch_{number}.webp") for number in range(1, 6)])
    return x, np.load(folder / "labels.npz")["y_train"].astype(int)


def results(data: Path, device: str, which: list[str]) -> list[Row]:
    """The runs named: "mnist", "cifar10", "combinations"."""
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelsieveWarning)
        if "mnist" in which:
            rows.append(_mnist(data, device))
        if "combinations" in which:
            rows.append(_combinations(data, device))
        if "cifar10" in which:
            rows += _cifar10(data, device)
    return rows


def _mnist(data: Path, device: str) -> Row:
    x, y, settings = mnist(data)
    runs: list[ls.Run] = []
    ours = seconds(
        lambda: runs.append(ls.autolabel(x, ls.SimulatedAnnotator(y), confidence="colander", device=device, **settings))
    )
    return Row("MNIST, LeNet, 16 rounds, Colander, one run", ours, note=_outcome(runs[0], y))


def _combinations(data: Path, device: str) -> Row:
    x, y, settings = mnist(data)
    own = [
        {"training": training, "confidence": confidence, "random_state": seed}
        for training in TRAININGS
        for confidence in CONFIDENCES
        for seed in range(5)
    ]
    runs: list[ls.Run] = []
    ours = seconds(lambda: runs.extend(ls.autolabel_many(x, ls.SimulatedAnnotator(y), own, device=device, **settings)))
    coverage = np.mean([run.coverage for run in runs])
    return Row("MNIST, LeNet, 16 rounds, 24 combinations × 5 seeds", ours, note=f"mean coverage {coverage:.1%}")


def _cifar10(data: Path, device: str) -> list[Row]:
    x, y, settings = cifar10(data)
    rows = []
    for precision in PRECISIONS:
        runs: list[ls.Run] = []
        classifier = TorchClassifier(SimpleCNN(), precision=precision, device=device)
        clone(classifier).set_params(epochs=1).fit(x[:256], y[:256], 10, seed=0)  # first use of a device is slow
        ours = seconds(
            lambda classifier=classifier, runs=runs: runs.append(  # type: ignore[misc]
                ls.autolabel(x, ls.SimulatedAnnotator(y), classifier=classifier, device=device, **settings)
            )
        )
        rows.append(Row(f"CIFAR-10, CNN, 4 rounds, Colander, precision {precision}", ours, note=_outcome(runs[0], y)))
    return rows


def _outcome(run: ls.Run, y: np.ndarray) -> str:
    found = run.evaluate(y)
    error = "no machine labels" if found.error is None else f"error {found.error:.2%}"
    return f"coverage {found.coverage:.1%}, {error}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--which", nargs="+", default=["mnist"])
    arguments = parser.parse_args()
    print(table(results(arguments.data, arguments.device, arguments.which)))


if __name__ == "__main__":
    main()
