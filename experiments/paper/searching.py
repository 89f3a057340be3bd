"""The paper's search protocol, for every way of training and every confidence function of a dataset."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import labelsieve as ls
from experiments.paper.configuration import ANCHORED, TOLERANCE, Protocol
from experiments.paper.datasets import load, search_division
from experiments.paper.methods import classifier, confidence
from experiments.paper.store import Store, key_of
from labelsieve.errors import LabelsieveWarning

LARGER_ALPHA = {"confidence": {"colander": {"alpha": [0.01, 0.1, 1.0, 10.0, 50.0]}}}
"""Beside the paper's: scores lie between 0 and 1, so its own leave the sigmoid almost flat."""


def search_all(
    protocol: Protocol,
    trainings: Sequence[str],
    confidences: Sequence[str],
    store: Store,
    data: Path,
    cache: Path,
    device: str,
    grid: dict[str, Any] | None = None,
) -> None:
    """Search what the store does not have. Single measurements are kept in the cache meanwhile."""
    grid = {"extends": protocol.grid, **LARGER_ALPHA} if grid is None else grid
    known = {record["key"] for record in store.read("searches", protocol.dataset)}
    divided = search_division(load(protocol.dataset, data), protocol)
    for training in trainings:
        for name in confidences:
            about = {"dataset": protocol.dataset, "training": training, "confidence": name}
            key = key_of({**about, "grid": grid, "search": vars(protocol.search), "precision": protocol.precision})
            if key in known or name == ANCHORED:
                continue
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LabelsieveWarning)
                found = ls.search(
                    divided.pool.x,
                    ls.SimulatedAnnotator(divided.pool.y),
                    validation=(divided.validation.x, divided.validation.y),
                    hyp=(divided.hyp.x, divided.hyp.y),
                    classes=int(load(protocol.dataset, data).y.max()) + 1,
                    tolerance=TOLERANCE,
                    train_budget=protocol.train_budget,
                    seed_size=protocol.seed_size,
                    calibration_fraction=protocol.calibration_fraction,
                    classifier=classifier(protocol, training),
                    training=classifier(protocol, training).training,
                    confidence=confidence(protocol, name),
                    seeds=protocol.search.seeds,
                    grid=grid,
                    cache=cache,
                    chunk_size=protocol.search.at_once,
                    device=device,
                    progress=False,
                )
            store.add("searches", protocol.dataset, [{"key": key, **about, **found.to_dict()}])
            print(f"{protocol.title}: {training}, {name} searched in {time.perf_counter() - started:.0f} s", flush=True)
