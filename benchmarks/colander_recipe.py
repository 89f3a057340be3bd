"""What each part of Colander's recipe brings: ``python benchmarks/colander_recipe.py DATA`` prints a Markdown table.

Judged on points no part of the method has seen: AUROC of telling right from wrong predictions, and the coverage at 5 %
error with the threshold chosen in hindsight, so that the score alone is judged. DATA holds mnist and newsgroups20.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from labelsieve import registry
from labelsieve.confidence import Colander, ConfidenceFunction, Softmax
from labelsieve.expectation import coverage_at
from labelsieve.types import Outputs

PRINTED = {
    "anchor": None, "penalty": 10.0, "batch_size": 64, "learning_rate": 0.01, "weight_decay": 0.01,
    "cosine_period": 100, "early_stopping": None, "epochs": 100,
}  # fmt: skip


class WithoutShift(Colander):
    """The anchored form without the extra output for the predicted class."""

    def _confidence(self, anchor: torch.Tensor, learned: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
        kept = torch.cat([learned[:, :-1], torch.zeros_like(learned[:, -1:])], dim=1)
        return super()._confidence(anchor, kept, predicted)


RECIPES: dict[str, ConfidenceFunction] = {
    "softmax": Softmax(),
    "printed form, α = 0.1, z as it is": Colander(**PRINTED, alpha=0.1, standardise=False),
    "printed form, α = 0.1": Colander(**PRINTED, alpha=0.1),
    "printed form, α = 10": Colander(**PRINTED, alpha=10.0),
    "printed form, α = 10, best epoch": Colander(**PRINTED | {"early_stopping": 0.2}, alpha=10.0),
    "anchored, otherwise as printed, α = 10": Colander(**PRINTED | {"anchor": "temperature"}, alpha=10.0),
    "the default without the shift": WithoutShift(),
    "the default with λ = 10": Colander(penalty=10.0),
    "the default with α = 1": Colander(alpha=1.0),
    "the default without best epoch": Colander(early_stopping=None),
    "the default with one joint threshold": Colander(per_class=False),
    "**the default**": Colander(),
}


Problem = tuple[Outputs, np.ndarray, Outputs, np.ndarray]


def from_classifier(name: str, x: np.ndarray, y: np.ndarray, sizes: tuple[int, int, int], seed: int) -> Problem:
    """Calibration and unseen outputs of a classifier trained on the first part of a shuffle."""
    order = np.random.default_rng(seed).permutation(len(x))
    train, calibration, unseen = np.split(order[: sum(sizes)], np.cumsum(sizes)[:-1])
    model = registry.create("classifier", name).fit(x[train], y[train], int(y.max()) + 1, seed=seed)
    return model.outputs(x[calibration]), y[calibration], model.outputs(x[unseen]), y[unseen]


def evidence_in_one_feature(seed: int) -> Problem:
    """Three classes and logits that say nothing about being right; one feature that does, whatever the class."""
    rng = np.random.default_rng(seed)
    y, right = rng.integers(3, size=1500), rng.uniform(size=1500) < 0.6
    logits = 2.0 * np.eye(3)[np.where(right, y, (y + 1) % 3)] + 0.1 * rng.normal(size=(1500, 3))
    outputs = Outputs(logits, np.c_[right + 0.5 * rng.normal(size=1500), rng.normal(size=(1500, 2))])
    return outputs[:750], y[:750], outputs[750:], y[750:]


def problems(data: Path) -> dict[str, list[Problem]]:
    mnist, news = np.load(data / "mnist" / "mnist.npz"), np.load(data / "newsgroups20" / "minilm.npz")
    images, digits = mnist["x_train"], mnist["y_train"].astype(int)
    posts, groups = news["x_train"].astype(np.float32), news["y_train"].astype(int)
    seeds = range(3)
    return {
        "MNIST, 200": [from_classifier("lenet", images, digits, (200, 2000, 10_000), seed) for seed in seeds],
        "MNIST, 500": [from_classifier("lenet", images, digits, (500, 2000, 10_000), seed) for seed in seeds],
        "20 Newsgroups, 2,000": [from_classifier("mlp", posts, groups, (2000, 800, 8000), seed) for seed in seeds],
        "one telling feature": [evidence_in_one_feature(seed) for seed in seeds],
    }


def judge(recipe: ConfidenceFunction, rounds: list[Problem]) -> str:
    results = []
    for calibration, y, unseen, truth in rounds:
        scores = recipe.fit(calibration, y).score(unseen)
        right = unseen.predicted == truth
        results.append((roc_auc_score(right, scores), coverage_at(0.05, scores, right)))
    auroc, coverage = np.mean(results, axis=0)
    return f"{auroc:.3f} / {100 * coverage:.1f} %"


def main() -> None:
    found = problems(Path(sys.argv[1]))
    print("| recipe | " + " | ".join(found) + " |\n|" + "---|" * (len(found) + 1))
    for name, recipe in RECIPES.items():
        print(f"| {name} | " + " | ".join(judge(recipe, rounds) for rounds in found.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
