"""Whether more evidence than today's would raise coverage: ``python -m benchmarks.more_evidence DATA``.

Beside the shape of the probabilities and labelled neighbours: what other members of an ensemble say of a point, what
the network said of it earlier in its training, what it says of views of it that are shifted a little. ``Evidence``
learns from the training labels, each point judged by models that have not seen it; coverage, one threshold chosen in
hindsight, and AUGRC are those of fresh points. All are points of the search, which are in no run's pool. Differences
to today's evidence are paired, with their standard error over seeds. A case (``embedding``, ``lenet``, ``resnet``)
after DATA leaves the others out: on one core they take two, eight and fifteen minutes.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from experiments.paper.configuration import protocol
from experiments.paper.datasets import load, search_division
from labelsieve import registry
from labelsieve.classifiers.augmentation import weak
from labelsieve.classifiers.base import Classifier
from labelsieve.classifiers.torch_classifier import TorchClassifier
from labelsieve.confidence import Evidence
from labelsieve.expectation import area_under_risk, coverage_at
from labelsieve.fitting.devices import own_randomness
from labelsieve.types import Array, Floats, Ints, Outputs, joined

FOLDS = 4
MOMENTS = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Shares of the training after which the network is asked what it thinks so far."""
VIEWS = 5
MEASURES = ("coverage at 5 %", "coverage at 1 %", "1,000 × AUGRC")
KINDS: dict[str, dict[str, slice]] = {
    "today's": {},
    "+ 5 members": {"members": slice(5)},
    "+ 1 member": {"members": slice(1)},
    "+ 5 snapshots": {"snapshots": slice(5)},
    "+ 1 snapshot, at 10 %": {"snapshots": slice(0, 1)},
    "+ 1 snapshot, at 20 %": {"snapshots": slice(1, 2)},
    "+ 1 snapshot, at 40 %": {"snapshots": slice(2, 3)},
    "+ 5 views": {"views": slice(5)},
    "+ 1 view": {"views": slice(1)},
    "+ all of them": {"members": slice(5), "snapshots": slice(5), "views": slice(5)},
}
"""Which of the other predictions of a kind are used; each is another pass over the pool."""


@dataclass(frozen=True)
class Case:
    dataset: str
    labels: int
    seeds: int
    members: int
    """Beside the classifier itself: bagged heads of embeddings, networks of other seeds."""


CASES = {
    "embedding": Case("newsgroups20", labels=2000, seeds=10, members=5),
    "lenet": Case("mnist", labels=500, seeds=5, members=5),
    "resnet": Case("mnist", labels=500, seeds=3, members=1),
}


@dataclass(frozen=True, eq=False)
class Judged:
    """What a classifier says of points it has not seen, and other probabilities (m, n, k) of the same points."""

    outputs: Outputs
    others: Mapping[str, Floats]

    def has(self, kind: Mapping[str, slice]) -> bool:
        return all(len(self.others.get(name, ())) >= which.stop for name, which in kind.items())

    def with_evidence(self, kind: Mapping[str, slice]) -> Outputs:
        predicted = self.outputs.predicted
        more = [columns(self.others[name][which], predicted, name == "snapshots") for name, which in kind.items()]
        return replace(self.outputs, find_evidence=lambda: np.hstack([self.outputs.evidence, *more]))

    def passes(self, kind: Mapping[str, slice]) -> int:
        return sum(len(self.others[name][which]) for name, which in kind.items())


def columns(others: Floats, predicted: Ints, in_order: bool) -> Floats:
    """How likely the others find the predicted class on average, plain and as a logarithm; how far they differ; which
    share of them agrees; and, for those of one training, how often the class changed."""
    likely = others[:, np.arange(len(predicted)), predicted]
    classes = others.argmax(axis=2)
    found = [likely.mean(axis=0), np.log(likely.mean(axis=0) + 1e-9), likely.std(axis=0)]
    found.append((classes == predicted).mean(axis=0))
    if in_order:
        found.append((np.diff(np.vstack([classes, predicted]), axis=0) != 0).sum(axis=0))
    return np.stack(found, axis=1)


def judged(name: str, members: int, x: Array, y: Ints, k: int, unseen: Array, seed: int) -> Judged:
    classifier: Classifier = registry.create("classifier", name)
    if not isinstance(classifier, TorchClassifier):
        outputs = classifier.fit(x, y, k, seed=seed).outputs(unseen)
        return Judged(outputs, {"members": bagged(name, members, x, y, k, unseen, seed)})
    earlier: list[nn.Module] = []

    def remember(share: float) -> None:
        if len(earlier) < len(MOMENTS) and share >= MOMENTS[len(earlier)]:
            earlier.append(copy.deepcopy(classifier.module_).eval())

    outputs = classifier.fit(x, y, k, seed=seed, progress=remember).outputs(unseen)
    others = [registry.create("classifier", name).fit(x, y, k, seed=1000 * (m + 1) + seed) for m in range(members)]
    return Judged(
        outputs,
        {
            "members": probabilities([other.outputs(unseen) for other in others]),
            "snapshots": probabilities([with_module(classifier, module).outputs(unseen) for module in earlier]),
            "views": probabilities([classifier.outputs(view) for view in views(unseen, seed)]),
        },
    )


def bagged(name: str, members: int, x: Array, y: Ints, k: int, unseen: Array, seed: int) -> Floats:
    rng = np.random.default_rng([seed, 2])
    drawn = [rng.integers(len(y), size=len(y)) for _ in range(members)]
    return probabilities([
        registry.create("classifier", name).fit(x[rows], y[rows], k, seed=seed).outputs(unseen) for rows in drawn
    ])  # fmt: skip


def probabilities(outputs: Sequence[Outputs]) -> Floats:
    return np.stack([said.probabilities for said in outputs])


def with_module(classifier: TorchClassifier, module: nn.Module) -> TorchClassifier:
    other = copy.copy(classifier)
    other.module_ = module
    return other


def views(images: Array, seed: int) -> list[Array]:
    """Grey images (n, h, w), shifted as training does it."""
    with own_randomness(seed, torch.device("cpu")):
        return [weak(torch.from_numpy(images)[:, None])[:, 0].numpy() for _ in range(VIEWS)]


def measured(scores: Floats, right: Array) -> list[float]:
    covered = [100 * coverage_at(error, scores, right) for error in (0.05, 0.01)]
    return [*covered, 1000 * area_under_risk(scores, right)]


def of_seed(name: str, case: Case, x: Array, y: Ints, seed: int) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Measures and passes of every kind; those of plain softmax first."""
    rng, k = np.random.default_rng(seed), int(y.max()) + 1
    labelled, fresh = np.split(rng.permutation(len(y)), [case.labels])
    fold_of = rng.permutation(np.arange(case.labels) % FOLDS)
    parts, known = [], []
    for fold in range(FOLDS):
        others, rows = labelled[fold_of != fold], labelled[fold_of == fold]
        parts.append(judged(name, case.members, x[others], y[others], k, x[rows], seed))
        known.append(y[rows])
    model = judged(name, case.members, x[labelled], y[labelled], k, x[fresh], seed)
    right = model.outputs.predicted == y[fresh]
    found, passes = {"softmax": measured(model.outputs.top_probabilities, right)}, {"softmax": 0}
    for title, kind in KINDS.items():
        if not model.has(kind):
            continue
        learned = Evidence().fit(joined([part.with_evidence(kind) for part in parts]), np.concatenate(known))
        found[title] = measured(learned.score(model.with_evidence(kind)), right)
        passes[title] = model.passes(kind)
    return found, passes


def report(name: str, case: Case, folder: Path) -> None:
    room = search_division(load(case.dataset, folder), protocol(case.dataset))
    x = np.concatenate([room.pool.x, room.validation.x, room.hyp.x])
    y = np.concatenate([room.pool.y, room.validation.y, room.hyp.y])
    seeds = [of_seed(name, case, x, y, seed) for seed in range(case.seeds)]
    today = np.array([found["today's"] for found, _ in seeds])
    for title, passes in seeds[0][1].items():
        values = np.array([found[title] for found, _ in seeds])
        cells = [
            f"{mean:.2f} ({difference})"
            for mean, difference in zip(values.mean(axis=0), map(paired, (values - today).T), strict=True)
        ]
        print(f"| `{name}` | {title} | {passes} | {' | '.join(cells)} |", flush=True)


def paired(differences: Floats) -> str:
    if len(differences) == 1:
        return f"{differences[0]:+.2f}"
    return f"{differences.mean():+.2f} ± {differences.std(ddof=1) / np.sqrt(len(differences)):.2f}"


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(CASES)
    print(f"| classifier | evidence | more passes | {' | '.join(MEASURES)} |\n|{'---|' * 6}", flush=True)
    for name in names:
        report(name, CASES[name], folder)


if __name__ == "__main__":
    main()
