"""Section 2.2 and Figure 2 of the paper: one round on CIFAR-10 with a network trained to zero training error.

4,000 training points, 1,000 validation points (half of them calibrate where a score is fitted, the others set
thresholds), the paper's rule at ε = 5 %, all other points of the pool labelled or not in one go.

Records of kind ``single_round``, one per seed and score::

    key, dataset, seed, confidence     softmax, temperature, colander (as printed), colander-anchored
    coverage, error                    over the pool points that are not in training; error is null if none is labelled
    labelled, wrong                    as numbers of points
    accuracy, training_error           of the network, on these points and on its training points
    auroc                              of telling right from wrong predictions by the score, on these points
    scores, right, calibrates          of all validation points; the last says which of them the score is fitted on
    parameters, seconds, precision, device
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import labelsieve as ls
from experiments.paper.configuration import ANCHORED, TOLERANCE, Protocol
from experiments.paper.configuration import protocol as protocol_of
from experiments.paper.datasets import Points, division, load
from experiments.paper.methods import confidence
from experiments.paper.printed_form import AUTHORS_VALUES, kind_of_device, plain_network, printed_colander
from experiments.paper.store import Record, Store, key_of
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction

KIND, DATASET = "single_round", "cifar10"
SCORES = ("softmax", "temperature", "colander", ANCHORED)
SEEDS = (0, 1, 2)
_TRAINING, _CALIBRATION, _CLASSIFIER, _CONFIDENCE = range(11, 15)
"""Purposes of random draws; lower numbers are taken by those that divide the data."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of points, and how the network is trained; the learning rate falls as half a cosine over all epochs."""

    pool: int = 40_000
    train: int = 4_000
    validation: int = 1_000
    calibration_fraction: float = 0.5
    epochs: int = 200
    batch_size: int = 32
    learning_rate: float = 0.001
    weight_decay: float = 0.001


def run(
    store: Store, data_folder: Path, device: str = "auto", seeds: Sequence[int] = SEEDS, protocol: Sizes | None = None
) -> None:
    """All that the store does not have. ``protocol`` is for sizes of one's own."""
    sizes = protocol or Sizes()
    known = {record["key"] for record in store.read(KIND, DATASET)}
    for seed in seeds:
        missing = [name for name in SCORES if _key(sizes, seed, name) not in known]
        if missing:
            _run_seed(store, data_folder, device, sizes, seed, missing)


def summary(store: Store) -> dict[str, dict[str, Any]]:
    """Per score: coverage and error of each seed, and means over seeds; ``error`` is None where nothing is labelled."""
    found: dict[str, dict[str, Any]] = {}
    records = sorted(store.read(KIND, DATASET), key=lambda record: record["seed"])
    for name in SCORES:
        own = [record for record in records if record["confidence"] == name]
        if own:
            errors = [record["error"] for record in own if record["error"] is not None]
            found[name] = {
                "seeds": [record["seed"] for record in own],
                "coverages": [record["coverage"] for record in own],
                "errors": [record["error"] for record in own],
                "coverage": mean(record["coverage"] for record in own),
                "error": mean(errors) if errors else None,
                "auroc": mean(record["auroc"] for record in own),
                "accuracy": mean(record["accuracy"] for record in own),
                "training_error": mean(record["training_error"] for record in own),
            }
    return found


def _run_seed(store: Store, data_folder: Path, device: str, sizes: Sizes, seed: int, names: Sequence[str]) -> None:
    started = time.perf_counter()
    protocol = protocol_of(DATASET).changed({"pool": sizes.pool, "validation": sizes.validation})
    divided = division(load(DATASET, data_folder), protocol, seed)
    order = _generator(seed, _TRAINING).permutation(len(divided.pool))
    training, pool = divided.pool[order[: sizes.train]], divided.pool[order[sizes.train :]]
    network = _network(protocol, device, sizes)
    network.fit(training.x, training.y, int(divided.pool.y.max()) + 1, seed=_integer(seed, _CLASSIFIER))
    training_error = float((network.outputs(training.x).predicted != training.y).mean())
    print(
        f"single round: seed {seed}, network trained in {time.perf_counter() - started:.0f} s, "
        f"{100 * training_error:.2f} % of its training points wrong",
        flush=True,
    )
    said, said_held = network.outputs(pool.x), network.outputs(divided.validation.x)
    for name in names:
        started = time.perf_counter()
        measured = _measured(name, protocol, device, sizes, seed, said, pool, said_held, divided.validation)
        record = {
            "key": _key(sizes, seed, name),
            "dataset": DATASET,
            "seed": seed,
            "confidence": name,
            **measured,
            "training_error": round(training_error, 6),
            "seconds": round(time.perf_counter() - started, 1),
            "precision": network.get_params()["precision"],
            "device": kind_of_device(device),
        }
        store.add(KIND, DATASET, [record])
        print(
            f"single round: seed {seed}, {name}: {100 * record['coverage']:.1f} % labelled, {record['wrong']} of "
            f"{record['labelled']} wrong, in {record['seconds']:.0f} s",
            flush=True,
        )


def _measured(
    name: str,
    protocol: Protocol,
    device: str,
    sizes: Sizes,
    seed: int,
    said: ls.Outputs,
    pool: Points,
    said_held: ls.Outputs,
    validation: Points,
) -> Record:
    score = _score_function(name, protocol, device)
    if "random_state" in score.get_params():
        score.set_params(random_state=_integer(seed, _CONFIDENCE))
    share = sizes.calibration_fraction if score.needs_fitting else 0.0
    calibrates = _generator(seed, _CALIBRATION).permutation(len(validation)) < round(share * len(validation))
    if score.needs_fitting:
        score.fit(said_held[calibrates], validation.y[calibrates])
    held_scores, right_held = score.score(said_held), said_held.predicted == validation.y
    thresholds = ls.thresholds.PaperRule(tolerance=TOLERANCE).estimate(
        held_scores[~calibrates], said_held.predicted[~calibrates], right_held[~calibrates], said.logits.shape[1]
    )
    scores, right = score.score(said), said.predicted == pool.y
    accepted = scores >= thresholds[said.predicted]
    labelled, wrong = int(accepted.sum()), int((accepted & ~right).sum())
    return {
        "coverage": round(labelled / len(pool), 6),
        "error": round(wrong / labelled, 6) if labelled else None,
        "labelled": labelled,
        "wrong": wrong,
        "accuracy": round(float(right.mean()), 6),
        "auroc": round(float(roc_auc_score(right, scores)), 6),
        "scores": [float(f"{value:.8g}") for value in held_scores],
        "right": right_held.astype(int).tolist(),
        "calibrates": calibrates.astype(int).tolist(),
        "parameters": AUTHORS_VALUES[DATASET] if name == "colander" else {},
    }


def _score_function(name: str, protocol: Protocol, device: str) -> ConfidenceFunction:
    if name == "colander":
        return printed_colander(protocol, device)
    made = confidence(protocol, name)
    return made.set_params(device=device) if "device" in made.get_params() else made


def _network(protocol: Protocol, device: str, sizes: Sizes) -> Classifier:
    made: Classifier = plain_network(protocol, device).set_params(
        epochs=sizes.epochs,
        cosine_period=sizes.epochs,
        batch_size=sizes.batch_size,
        learning_rate=sizes.learning_rate,
        weight_decay=sizes.weight_decay,
    )
    return made


def _key(sizes: Sizes, seed: int, name: str) -> str:
    return key_of({"kind": KIND, "dataset": DATASET, "seed": seed, "confidence": name, "sizes": asdict(sizes)})


def _generator(seed: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng([seed, purpose])


def _integer(seed: int, purpose: int) -> int:
    return int(_generator(seed, purpose).integers(2**32))
