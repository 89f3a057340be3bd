"""What should learn from embeddings: ``python -m benchmarks.heads DATA [SEEDS]``.

Posts, digits and photographs that are in no pool, some of them labelled at random. Of the others: how many are
predicted right; coverage at an error of 5 % by today's evidence, one threshold chosen in hindsight; and AUGRC. Each as
a mean over seeds, and as the difference to ``embedding`` trained alike, with its standard error.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.choosing_heads import problems
from benchmarks.stopping import embeddings
from labelsieve import registry
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence import Evidence
from labelsieve.expectation import area_under_risk, coverage_at
from labelsieve.types import Array, Floats, Ints, Outputs, joined

HEADS = ("embedding", "kernel")
TRAININGS = ("vanilla", "semi-supervised")
MEASURES = ("right", "coverage", "1,000 × AUGRC", "seconds")
LABELS = (500, 1_900)
_FOLDS = 4


def main(data: Path, seeds: int) -> None:
    print(f"| points | labels | training | classifier | {' | '.join(MEASURES)} |\n|" + "---|" * (4 + len(MEASURES)))
    for name, x, y in _rooms(data):
        for labels in LABELS:
            for training in TRAININGS:
                reference = None
                for head in HEADS:
                    found = np.array([_measured(head, training, x, y, labels, seed) for seed in range(seeds)])
                    reference = found if reference is None else reference
                    cells = _cells(found, reference, head == HEADS[0])
                    print(f"| {name} | {labels:,} | {training} | `{head}` | {' | '.join(cells)} |", flush=True)


def _rooms(data: Path) -> list[tuple[str, Array, Ints]]:
    of_rows, of_embeddings = problems(data), embeddings(data)
    chosen = {
        "MNIST, 40 components": of_rows["MNIST, 40 components"],
        **{name: of_embeddings[name] for name in ("posts, embeddings", "posts, words beside embeddings")},
        "photographs": of_embeddings["photographs, fewer"],
    }
    return [(name, x, y) for name, (x, y, _, _) in chosen.items()]


def _measured(head: str, training: str, x: Array, y: Ints, labels: int, seed: int) -> list[float]:
    rng, k = np.random.default_rng(seed), int(y.max()) + 1
    labelled, fresh = np.split(rng.permutation(len(y)), [labels])
    fold_of = rng.permutation(np.arange(labels) % _FOLDS)
    started = time.perf_counter()
    like: Classifier = registry.create("classifier", head).with_training(registry.create("training", training))

    def fitted(classifier: Classifier, rows: Ints) -> Classifier:
        beside = {"unlabelled": x[np.setdiff1d(np.arange(len(y)), rows)]} if classifier.unlabelled_wanted else {}
        return classifier.fit(x[rows], y[rows], k, seed=seed, **beside)

    model = fitted(like, labelled)
    parts: list[Outputs] = []
    for fold in range(_FOLDS):
        parts.append(fitted(model.settled(), labelled[fold_of != fold]).outputs(x[labelled[fold_of == fold]]))
    known = np.concatenate([y[labelled[fold_of == fold]] for fold in range(_FOLDS)])
    said = model.outputs(x[fresh])
    scores, right = Evidence().fit(joined(parts), known).score(said), said.predicted == y[fresh]
    seconds = time.perf_counter() - started
    return [100 * right.mean(), 100 * coverage_at(0.05, scores, right), 1000 * area_under_risk(scores, right), seconds]


def _cells(found: Floats, reference: Floats, is_reference: bool) -> list[str]:
    means, gains = found.mean(axis=0), found - reference
    errors = gains.std(axis=0, ddof=1) / len(found) ** 0.5
    *measured, seconds = zip(means, gains.mean(axis=0), errors, strict=True)
    differences = ["" if is_reference else f" ({gain:+.1f} ± {error:.1f})" for _, gain, error in measured]
    cells = [f"{mean:.1f}{difference}" for (mean, _, _), difference in zip(measured, differences, strict=True)]
    return [*cells, f"{seconds[0]:.1f}"]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
