"""How often each rule breaks its tolerance: ``python benchmarks/guarantees.py DATA [RULE ...]`` prints a table.

Whole runs with a fast classifier, 100 seeds each, tolerance 5 %, δ = 5 %. DATA holds mnist and newsgroups20.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import labelsieve as ls
from labelsieve.errors import LabelsieveWarning

SEEDS, TOLERANCE = 100, 0.05
RULES: dict[str, dict[str, str]] = {
    "certified": {"thresholds": "certified"},
    "folds": {"thresholds": "certified", "validation_reuse": "folds"},
    "paper": {"thresholds": "paper"},
}
Problem = tuple[np.ndarray, np.ndarray, int, int]


def problems(data: Path) -> dict[str, Problem]:
    """Points, labels, training budget and validation budget."""
    digits = load_digits()
    news = np.load(data / "newsgroups20" / "minilm.npz")
    mnist = np.load(data / "mnist" / "mnist.npz")
    pixels = mnist["x_train"][:12_000].reshape(12_000, -1) / 255.0
    components = PCA(40, random_state=0).fit_transform(pixels).astype(np.float32)
    return {
        "digits": (digits.data, digits.target, 200, 400),
        "20 Newsgroups, MiniLM": (news["x_train"].astype(np.float32), news["y_train"].astype(int), 2000, 1600),
        "12,000 of MNIST, 40 components": (components, mnist["y_train"][:12_000].astype(int), 1000, 1000),
    }


def main() -> None:
    warnings.simplefilter("ignore", LabelsieveWarning)
    print("| data | labels to train and check | rule | error above 5 % | coverage | mean error | worst error |")
    print("|---|---|---|---|---|---|---|")
    for name, (x, y, train, validation) in problems(Path(sys.argv[1])).items():
        for rule in sys.argv[2:] or RULES:
            runs = [
                ls.autolabel(
                    x, ls.SimulatedAnnotator(y), classes=int(y.max()) + 1, train_budget=train,
                    validation_budget=validation,
                    batch_size=int(0.3 * train), classifier="logistic", tolerance=TOLERANCE, random_state=seed,
                    progress=False, **RULES[rule],
                ).evaluate(y)
                for seed in range(SEEDS)
            ]  # fmt: skip
            errors = np.array([run.error for run in runs if run.error is not None])
            coverage = np.mean([run.coverage for run in runs])
            print(
                f"| {name} | {train:,} + {validation:,} | `{rule}` | {(errors > TOLERANCE).sum()} of {SEEDS} | "
                f"{coverage:.1%} | {errors.mean():.2%} | {errors.max():.2%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
