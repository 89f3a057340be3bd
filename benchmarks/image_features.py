"""How a pretrained network should look at small photographs: ``python -m benchmarks.image_features DATA [SEEDS]``.

CIFAR-10, 4,000 of the points of its search, which are in no run's pool: 1,000 of them to learn from by
``classifier="embedding"``, the others without labels and to measure with. What the product takes, and one change to it
at a time. Coverage is at an error of 5 %, the threshold chosen in hindsight. Means over seeds, as differences to the
product with their standard errors. Ten minutes on two cores.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.views import MEASURES, quality, search_room
from labelsieve import registry
from labelsieve.classifiers.training.semi_supervised import SemiSupervised
from labelsieve.data.embeddings.base import unit_rows
from labelsieve.data.embeddings.efficientnet import BEST, EfficientNetLite
from labelsieve.types import Array, Floats, Ints

POINTS, LABELS = 4_000, 1_000


class _Looking(EfficientNetLite):
    """At squares of another side, or at the middle of small images, too."""

    def __init__(self, name: str, side: int = 224, whole: bool = True) -> None:
        super().__init__(name, "cpu")
        self._form = self._form.__class__(**vars(self._form) | {"side": side, "whole_up_to": 64 if whole else 0})

    def at(self, images: Array) -> Array:
        size, fitted = self.batch_size, [self.fitted(Image.fromarray(image)) for image in images]
        return np.concatenate([self.see(fitted[start : start + size]) for start in range(0, len(images), size)])


def looked_at(x: Array) -> dict[str, Array]:
    product, small = _Looking(BEST).at(x), _Looking("efficientnet-lite0").at(x)
    mirrored = _Looking(BEST).at(np.ascontiguousarray(x[:, :, ::-1]))
    return {
        "Lite2 at 224 × 224": product,
        "at 260 × 260": _Looking(BEST, 260).at(x),
        "without the edges, as larger images": _Looking(BEST, whole=False).at(x),
        "the mean with the mirror image": unit_rows(product + mirrored),
        "Lite0": small,
        "Lite0 beside it": unit_rows(np.hstack([product, small])),
    }


def main(data: Path, seeds: int) -> None:
    (x_learned, y_learned), (x_fresh, y_fresh) = search_room(data, 0)
    x, y = (np.concatenate(parts)[:POINTS] for parts in ((x_learned, x_fresh), (y_learned, y_fresh)))
    print(f"| | {' | '.join(MEASURES)} |\n|---|" + "---|" * len(MEASURES), flush=True)
    reference: Floats | None = None
    for name, features in looked_at(x).items():
        found = np.array([_measured(features, y, seed) for seed in range(seeds)])
        if reference is None:
            reference = found
            cells = [f"{mean:.1f}" for mean in found.mean(axis=0)]
        else:
            gains = found - reference
            errors = gains.std(axis=0, ddof=1) / seeds**0.5
            cells = [f"{mean:+.1f} ± {error:.1f}" for mean, error in zip(gains.mean(axis=0), errors, strict=True)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _measured(features: Array, y: Ints, seed: int) -> Floats:
    order = np.random.default_rng(seed).permutation(len(y))
    taught, others = order[:LABELS], order[LABELS:]
    classifier = registry.create("classifier", "embedding").with_training(SemiSupervised())
    classifier.fit(features[taught], y[taught], 10, seed=seed, unlabelled=features[others])
    return quality(classifier.outputs(features[others]).logits, y[others])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
