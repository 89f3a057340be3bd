"""Where the tests of the certified rule should begin, and how many there should be:
``python -m benchmarks.candidates DATA``.

Coverage with so many candidates, and tests that begin at all of them (equal parts of delta, as until version 0.3.0) or
at those with so many times as many points above them as the one before; where a coverage is expected and where none is.
In the worlds of ``benchmarks.certified_claims``, in larger ones, and with softmax on real points, all of them of the
search room: they are in no run's pool. Real scores are calibrated on the training labels, as ``auto`` does it, which
changes what coverage is expected and not the order of the points. A quarter of an hour.

The rule: the setting with the highest coverage on average over all cases, with a coverage expected and without, each
weighing the same; of settings within 0.1 points of it, the one with the fewest beginnings.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from benchmarks.certified_claims import WORLDS, Case, cells, outcomes, world
from experiments.paper.configuration import protocol
from experiments.paper.datasets import load, search_division
from labelsieve import registry
from labelsieve.classifiers.base import Classifier
from labelsieve.thresholds import claims
from labelsieve.types import Array, Bools, Floats, Ints, Outputs, joined

EVERY = 1.01
"""Times as many points: so close that every candidate is a beginning."""
SETTINGS = ((EVERY, 20), (EVERY, 200), (1.5, 200), (2, 200), (3, 200), (4, 200), (6, 200))
"""How far apart the beginnings are, and how many candidates there are."""
TIE, TRAININGS, FOLDS = 0.1, 20, 4
LARGER = {
    "8,000 held out of 18,000, harder": world(10_000, 8_000, (0.3, 0.1)),
    "20,000 held out of 100,000": world(80_000, 20_000, (3, 0.375)),
    "20,000 held out of 100,000, hard": world(80_000, 20_000, (0.5, 0.5)),
    "20,000 held out of 60,000, harder": world(40_000, 20_000, (0.3, 0.1)),
}
REAL = {
    # dataset, classifier, training labels, and how many of the other points are held out
    "20 Newsgroups, 500 labels": ("newsgroups20", "embedding", 500, (1_200, 1_600)),
    "20 Newsgroups, 1,000 labels": ("newsgroups20", "embedding", 1_000, (1_200, 1_600)),
    "MNIST, 300 labels": ("mnist", "logistic", 300, (500, 1_000)),
}


def calibrated(classifier: str, x: Array, y: Ints, n_labels: int, seed: int) -> tuple[Floats, Bools]:
    """How likely the predictions of unseen points are right, by softmax and the training labels; and which are."""
    rng, k = np.random.default_rng(seed), int(y.max()) + 1
    training, others = np.split(rng.permutation(len(y)), [n_labels])

    def outputs(learned_from: Ints, unseen: Ints) -> Outputs:
        model: Classifier = registry.create("classifier", classifier)
        return model.fit(x[learned_from], y[learned_from], k, seed=seed).outputs(x[unseen])

    folds = np.array_split(training, FOLDS)
    known = joined([outputs(np.setdiff1d(training, fold), fold) for fold in folds])
    calibration = LogisticRegression().fit(log_odds(known), known.predicted == y[training])
    unknown = outputs(training, others)
    return calibration.predict_proba(log_odds(unknown))[:, 1], unknown.predicted == y[others]


def log_odds(outputs: Outputs) -> Floats:
    return np.asarray(logit(np.clip(outputs.top_probabilities, 1e-12, 1 - 1e-12)))[:, None]


def real_cases(folder: Path) -> dict[str, Case]:
    """Every draw is one of several trainings."""
    cases = {}
    for name, (dataset, classifier, n_labels, sizes) in REAL.items():
        room = search_division(load(dataset, folder), protocol(dataset))
        x, y = (np.concatenate([getattr(p, a) for p in (room.pool, room.validation, room.hyp)]) for a in "xy")
        trained = [calibrated(classifier, x, y, n_labels, seed) for seed in range(TRAININGS)]
        for held_out in sizes:
            cases[f"{name}, {held_out:,} held out of {len(y) - n_labels:,}"] = Case(held_out, any_of(trained))
    return cases


def any_of(trained: Sequence[tuple[Floats, Bools]]) -> Callable[[np.random.Generator], tuple[Floats, Bools]]:
    return lambda rng: trained[int(rng.integers(len(trained)))]


def compare(cases: dict[str, Case]) -> list[list[float]]:
    """Prints a line for each case with a coverage expected and without; coverages of all settings in each."""
    coverages = []
    for name, case in cases.items():
        for is_expected in (True, False):
            found = []
            for claims._RUNG, claims._CANDIDATES_IN_ORDER in SETTINGS:
                found.append(outcomes(case, is_expected))
            print(f"| {name} | {'yes' if is_expected else 'no'} | {cells(found)} |", flush=True)
            coverages.append([coverage for coverage, _ in found])
    return coverages


def main() -> None:
    names = [f"{'all' if rung == EVERY else f'× {rung:g}'} of {number}" for rung, number in SETTINGS]
    print(f"| case | coverage expected | {' | '.join(names)} |\n|{'---|' * (2 + len(names))}")
    worlds, real = compare({**WORLDS, **LARGER}), compare(real_cases(Path(sys.argv[1])))
    for name, rows in (("worlds", worlds), ("real points", real), ("all", worlds + real)):
        means = np.mean(rows, axis=0)
        print(f"| mean of {len(rows)}, {name} | both | {' | '.join(f'{mean:.2f} %' for mean in means)} |")
    highest = int(means.argmax())
    chosen = max(number for number, mean in enumerate(means) if mean >= means[highest] - TIE)
    print(f"\nHighest on average: {names[highest]}. By the rule: {names[chosen]}.")


if __name__ == "__main__":
    main()
