"""How a pretrained network should look at small photographs: ``python -m benchmarks.image_features DATA [SEEDS]``.

CIFAR-10, the 12,000 points of its search, which are in no run's pool: 1,000 or 4,000 of them to learn from by
``classifier="embedding"``, the others without labels and to measure with. What the product takes, and one change to it
at a time. Coverage is at an error of 5 %, the threshold chosen in hindsight. Means over seeds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.views import MEASURES, quality, search_room
from labelsieve import registry
from labelsieve.data.embeddings.base import unit_rows
from labelsieve.data.embeddings.efficientnet import BEST, EfficientNetLite
from labelsieve.types import Array

LABELS = (1_000, 4_000)
Look = Callable[[Array], Array]


class _Looking(EfficientNetLite):
    """At squares of another side, or at the middle of small images, too."""

    def __init__(self, name: str, side: int, whole: bool = True) -> None:
        super().__init__(name, "cpu")
        self._form = self._form.__class__(**vars(self._form) | {"side": side, "whole_up_to": 64 if whole else 0})

    def __call__(self, images: Array) -> Array:
        size = self.batch_size
        batches = (images[start : start + size] for start in range(0, len(images), size))
        return np.concatenate([self.see([Image.fromarray(image) for image in batch]) for batch in batches])


def looks() -> Iterator[tuple[str, Look]]:
    product, small = _Looking(BEST, 224), _Looking("efficientnet-lite0", 224)
    yield f"{BEST} at 224 × 224, the product's", product
    yield "192 × 192", _Looking(BEST, 192)
    yield "260 × 260", _Looking(BEST, 260)
    yield "without the edges, as larger images", _Looking(BEST, 224, whole=False)
    yield "and the mirror image, averaged", lambda x: unit_rows(product(x) + product(x[:, :, ::-1]))
    yield "efficientnet-lite0", small
    yield "efficientnet-lite0 beside it", lambda x: unit_rows(np.hstack([product(x), small(x)]))


def main(data: Path, seeds: int) -> None:
    (x_learned, y_learned), (x_fresh, y_fresh) = search_room(data, 0)
    x, y = np.concatenate([x_learned, x_fresh]), np.concatenate([y_learned, y_fresh])
    print(f"| | images a second | {' | '.join(f'{n:,} labels: {m}' for n in LABELS for m in MEASURES)} |")
    print("|---|---|" + "---|" * (len(LABELS) * len(MEASURES)), flush=True)
    for name, look in looks():
        started = time.perf_counter()
        features = look(x)
        pace = len(x) / (time.perf_counter() - started)
        found = [np.mean([_measured(features, y, n, seed) for seed in range(seeds)], axis=0) for n in LABELS]
        shown = " | ".join(f"{value:.1f}" for value in np.concatenate(found))
        print(f"| {name} | {pace:.0f} | {shown} |", flush=True)


def _measured(features: Array, y: Array, n: int, seed: int) -> Array:
    from labelsieve.classifiers.training.semi_supervised import SemiSupervised

    order = np.random.default_rng(seed).permutation(len(y))
    taught, others = order[:n], order[n:]
    classifier = registry.create("classifier", "embedding").with_training(SemiSupervised())
    classifier.fit(features[taught], y[taught], 10, seed=seed, unlabelled=features[others])
    return quality(classifier.outputs(features[others]).logits, y[others])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
