"""A side claim: train-time methods such as CRL and FMFP do not help, because the training error reaches zero.

Each method is trained on as many random points of the pool as the table's budget, with the parameters that the search
has chosen for it beside softmax, or with the paper's defaults where there was no search.

Records of kind ``training_error``, one per dataset, train-time method and seed::

    key, dataset, training, seed
    training_error       share of its training points the network gets wrong
    accuracy             on the other points of the pool
    auroc                of telling right from wrong predictions there by the largest softmax probability
    train_points, parameters, searched (whether these are from a search), seconds, precision, device
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from experiments.paper.configuration import DATASETS, TRAININGS, Protocol
from experiments.paper.configuration import protocol as protocol_of
from experiments.paper.datasets import Points, division, load
from experiments.paper.methods import classifier
from experiments.paper.printed_form import kind_of_device
from experiments.paper.store import Record, Store, key_of
from labelsieve.classifiers.base import Classifier

KIND = "training_error"
SEEDS = (0, 1, 2)
_TRAINING, _CLASSIFIER = 11, 12
"""Purposes of random draws; lower numbers are taken by those that divide the data."""


def run(
    store: Store,
    data_folder: Path,
    device: str = "auto",
    datasets: Sequence[str] = DATASETS,
    seeds: Sequence[int] = SEEDS,
    protocols: dict[str, Protocol] | None = None,
) -> None:
    """All that the store does not have. ``protocols`` are for sizes of one's own."""
    for dataset in datasets:
        protocol = (protocols or {}).get(dataset) or protocol_of(dataset)
        known = {record["key"] for record in store.read(KIND, dataset)}
        found = _searched(store, dataset)
        for training in TRAININGS:
            parameters = found.get(training, {})
            missing = [seed for seed in seeds if _key(protocol, training, parameters, seed) not in known]
            if missing:
                started = time.perf_counter()
                records = _measure(protocol, training, parameters, missing, load(dataset, data_folder), device)
                seconds = round((time.perf_counter() - started) / len(missing), 1)
                searched = training in found
                store.add(KIND, dataset, [{**record, "searched": searched, "seconds": seconds} for record in records])
                print(
                    f"training error: {protocol.title}, {training}: "
                    f"{100 * mean(record['training_error'] for record in records):.2f} % wrong in training, "
                    f"{100 * mean(record['accuracy'] for record in records):.1f} % right elsewhere, "
                    f"{len(missing)} seeds in {time.perf_counter() - started:.0f} s",
                    flush=True,
                )


def summary(store: Store) -> dict[str, dict[str, dict[str, Any]]]:
    """Per dataset and train-time method: means over seeds, and the highest training error of any seed."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for dataset in DATASETS:
        records = _of_latest_parameters(store, dataset)
        for training in TRAININGS:
            own = [record for record in records if record["training"] == training]
            if own:
                found.setdefault(dataset, {})[training] = {
                    "seeds": sorted(record["seed"] for record in own),
                    "training_error": mean(record["training_error"] for record in own),
                    "highest_training_error": max(record["training_error"] for record in own),
                    "accuracy": mean(record["accuracy"] for record in own),
                    "auroc": mean(record["auroc"] for record in own),
                    "searched": all(record["searched"] for record in own),
                }
    return found


def _measure(
    protocol: Protocol, training: str, parameters: dict[str, Any], seeds: Sequence[int], points: Points, device: str
) -> list[Record]:
    network = _network(protocol, training, parameters, device)
    records = []
    for seed in seeds:
        train, others = _divided(points, protocol, seed)
        fitted: Classifier = clone(network).fit(train.x, train.y, int(points.y.max()) + 1, seed=_integer(seed))
        said = fitted.outputs(others.x)
        right = said.predicted == others.y
        records.append(
            {
                "key": _key(protocol, training, parameters, seed),
                "dataset": protocol.dataset,
                "training": training,
                "seed": seed,
                "training_error": round(float((fitted.outputs(train.x).predicted != train.y).mean()), 6),
                "accuracy": round(float(right.mean()), 6),
                "auroc": round(float(roc_auc_score(right, said.probabilities.max(axis=1))), 6),
                "train_points": len(train),
                "parameters": parameters,
                "precision": network.get_params()["precision"],
                "device": kind_of_device(device),
            }
        )
    return records


def _network(protocol: Protocol, training: str, parameters: dict[str, Any], device: str) -> Classifier:
    made: Classifier = classifier(protocol, training).set_params(device=device, **parameters)
    return made


def _divided(points: Points, protocol: Protocol, seed: int) -> tuple[Points, Points]:
    """Training points, and all others of the pool."""
    pool = division(points, protocol, seed).pool
    order = np.random.default_rng([seed, _TRAINING]).permutation(len(pool))
    return pool[order[: protocol.train_budget]], pool[order[protocol.train_budget :]]


def _searched(store: Store, dataset: str) -> dict[str, dict[str, Any]]:
    """Parameters of the classifier per train-time method, as the search with softmax has found them."""
    return {
        record["training"]: record["training_parameters"]
        for record in store.read("searches", dataset)
        if record["confidence"] == "softmax"
    }


def _of_latest_parameters(store: Store, dataset: str) -> list[Record]:
    """Where a method was measured with several parameters, those that were stored last."""
    records = store.read(KIND, dataset)
    latest = {record["training"]: record["parameters"] for record in records}
    return [record for record in records if record["parameters"] == latest[record["training"]]]


def _key(protocol: Protocol, training: str, parameters: dict[str, Any], seed: int) -> str:
    return key_of({
        "kind": KIND, "dataset": protocol.dataset, "training": training, "seed": seed, "parameters": parameters,
        "pool": protocol.pool, "train_budget": protocol.train_budget, "classifier": protocol.classifier,
    })  # fmt: skip


def _integer(seed: int) -> int:
    return int(np.random.default_rng([seed, _CLASSIFIER]).integers(2**32))
