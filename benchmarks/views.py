"""What it brings to ask a network about several views of an image: ``python -m benchmarks.views DATA [SEEDS]``.

``resnet`` learns from shifted and mirrored images. Its logits are averaged over an image and its mirror image, or also
over both shifted by two pixels towards two corners. CIFAR-10, 4,000 of the search's points to learn from and the other
8,000 to measure with, which are in no run's pool; a quarter of the maps, so that a CPU can do it in minutes a seed.
Coverage is at an error of 5 %, the threshold chosen in hindsight. Differences to plain predictions are paired, with
their standard error over seeds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from scipy.special import softmax

from experiments.paper.configuration import protocol
from experiments.paper.datasets import load, search_division
from labelsieve import registry
from labelsieve.classifiers.augmentation import views
from labelsieve.classifiers.networks import ResNet
from labelsieve.expectation import area_under_risk, coverage_at
from labelsieve.types import Array, Floats, Ints

LABELS, WIDTH = 4_000, 16
MEASURES = ("right", "coverage", "1,000 × AUGRC")


def main(data: Path, seeds: int) -> None:
    found = []
    for seed in range(seeds):
        found.append(_measured(data, seed))
        print(f"seed {seed}: " + "; ".join(f"{name} {_shown(row)}" for name, row in found[-1].items()), flush=True)
    print(f"\n| views | {' | '.join(MEASURES)} |\n|---|---|---|---|")
    for name in found[0]:
        rows = np.array([of_seed[name] - (0 if name == "plain" else of_seed["plain"]) for of_seed in found])
        means, errors = rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(seeds)
        sign = "" if name == "plain" else "+"
        print(f"| {name} | {' | '.join(f'{m:{sign}.2f} ± {e:.2f}' for m, e in zip(means, errors, strict=True))} |")


def _measured(data: Path, seed: int) -> dict[str, Floats]:
    (x_learned, y_learned), (x_fresh, y_fresh) = search_room(data, seed)
    classifier = registry.create("classifier", "resnet").set_params(network=ResNet(WIDTH), precision="full")
    classifier.fit(x_learned, y_learned, 10, seed=seed)
    classifier.set_params(augment=False)  # from now on it says what it thinks of a single view

    plain, mirrored, *shifted = (
        classifier.outputs(view.movedim(1, 3).contiguous().numpy()).logits.astype(np.float64)
        for view in views(torch.from_numpy(x_fresh).movedim(3, 1))
    )
    kinds = {"plain": [plain], "mirrored": [plain, mirrored], "mirrored and shifted": [plain, mirrored, *shifted]}
    return {name: quality(np.mean(logits, axis=0), y_fresh) for name, logits in kinds.items()}


def search_room(data: Path, seed: int) -> tuple[tuple[Array, Ints], tuple[Array, Ints]]:
    """Points and labels to learn from, and those to measure with."""
    room = search_division(load("cifar10", data), protocol("cifar10"))
    x, y = (np.concatenate([getattr(part, name) for part in (room.pool, room.validation, room.hyp)]) for name in "xy")
    order = np.random.default_rng(seed).permutation(len(y))
    learned, fresh = order[:LABELS], order[LABELS:]
    return (x[learned], y[learned]), (x[fresh], y[fresh])


def quality(logits: Floats, y: Ints) -> Floats:
    """As named by ``MEASURES``."""
    scores, correct = softmax(logits, axis=1).max(axis=1), logits.argmax(axis=1) == y
    area = area_under_risk(scores, correct)
    return np.array([100 * correct.mean(), 100 * coverage_at(0.05, scores, correct), 1000 * area])


def _shown(row: Floats) -> str:
    return ", ".join(f"{value:.2f}" for value in row)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
