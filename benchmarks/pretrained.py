"""How a pretrained network should learn on: ``python -m benchmarks.pretrained DATA [SEEDS [ROW ...]]``, on a GPU.

CIFAR-10, 4,000 of the search's points to learn from and the other 8,000 to measure with, which are in no run's pool. The
preset, one change to it at a time, and ``resnet`` beside it. Coverage is at an error of 5 %, the threshold chosen in
hindsight. Means over seeds, with their standard errors.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.views import MEASURES, quality, search_room
from labelsieve import registry
from labelsieve.classifiers.pretrained import Pretrained
from labelsieve.types import Floats

CHANGES: dict[str, dict[str, Any]] = {
    "as it comes": {},
    "side 96": {"network": Pretrained(96)},
    "side 160": {"network": Pretrained(160)},
    "learning rate 0.005": {"learning_rate": 0.005},
    "learning rate 0.05": {"learning_rate": 0.05},
    "TF32": {"precision": "tf32"},
    "8 epochs": {"epochs": 8, "cosine_period": 8},
    "30 epochs": {"epochs": 30, "cosine_period": 30},
}


def main(data: Path, seeds: int, rows: list[str]) -> None:
    found: dict[str, list[Floats]] = {}
    for seed in range(seeds):
        for name in rows:
            found.setdefault(name, []).append(_measured(name, data, seed))
            print(f"seed {seed}, {name}: {', '.join(f'{value:.2f}' for value in found[name][-1])}", flush=True)
    print(f"\n| | {' | '.join(MEASURES)} | seconds |\n|---|---|---|---|---|")
    for name, of_seeds in found.items():
        means, errors = np.mean(of_seeds, axis=0), np.std(of_seeds, axis=0, ddof=1) / np.sqrt(seeds)
        print(f"| {name} | {' | '.join(f'{m:.2f} ± {e:.2f}' for m, e in zip(means, errors, strict=True))} |")


def _measured(name: str, data: Path, seed: int) -> Floats:
    (x_learned, y_learned), (x_fresh, y_fresh) = search_room(data, seed)
    preset = registry.create("classifier", "resnet" if name == "resnet" else "pretrained")
    classifier = preset.set_params(**{"precision": "bf16"} | CHANGES.get(name, {}))
    started = time.perf_counter()
    classifier.fit(x_learned, y_learned, 10, seed=seed)
    logits = classifier.outputs(x_fresh).logits
    return np.array([*quality(logits.astype(np.float64), y_fresh), time.perf_counter() - started])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2, sys.argv[3:] or [*CHANGES, "resnet"])
