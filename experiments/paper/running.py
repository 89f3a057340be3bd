"""Runs cells that have no result yet, many side by side."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import labelsieve as ls
from experiments.paper.cells import Cell, in_batches
from experiments.paper.configuration import TOLERANCE, Protocol
from experiments.paper.datasets import Division, Points, division, load
from experiments.paper.methods import Chosen
from experiments.paper.store import RUNS, Record, Store, key_again
from experiments.paper.unfinished import Unfinished
from labelsieve.errors import LabelsieveWarning


def run_cells(
    cells: Sequence[Cell],
    protocol: Protocol,
    store: Store,
    data: Path,
    device: str,
    unfinished: Unfinished,
    processes: int = 1,
    kind: str = RUNS,
) -> int:
    """Run what the store does not have of this kind; returns how many runs that were. Each batch is stored as soon as
    it is done; one that was cut off goes on.

    Several processes keep a GPU busy while others of them compute on the CPU."""
    chosen = Chosen(store, protocol)
    known = {record["key"] for record in store.read(kind, protocol.dataset)}
    missing = [cell for cell in cells if _key(cell, protocol, chosen, kind, device) not in known]
    print(f"{protocol.title}: {len(cells) - len(missing)} of {len(cells)} runs are there", flush=True)
    done = 0
    for batch, records, seconds in _performed(missing, protocol, chosen, data, kind, device, unfinished, processes):
        store.add(kind, protocol.dataset, records)
        unfinished.forget(record["key"] for record in records)
        done += len(batch)
        print(
            f"{protocol.title}: {done} of {len(missing)} runs done, the last {len(batch)} in "
            f"{seconds:.0f} s ({_in_words(batch)})",
            flush=True,
        )
    return done


Performed = tuple[Sequence[Cell], list[Record], float]
"""A batch, its results, and how many seconds it took."""


def _performed(
    cells: list[Cell],
    protocol: Protocol,
    chosen: Chosen,
    data: Path,
    kind: str,
    device: str,
    unfinished: Unfinished,
    processes: int,
) -> Iterator[Performed]:
    """Batches as they come to their end."""
    batches = list(in_batches(cells, protocol.at_once))
    perform = partial(
        _perform, protocol=protocol, chosen=chosen, data=data, kind=kind, device=device, unfinished=unfinished
    )
    if processes == 1:
        yield from map(perform, batches)
        return
    failed: BaseException | None = None
    # Spawned, since a GPU that was used before cannot be used after a fork.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(perform, batch) for batch in batches]):
            if future.exception() is None:
                yield future.result()
            failed = failed or future.exception()
    if failed is not None:  # only now: what the others have found is kept
        raise failed


def _perform(
    batch: Sequence[Cell],
    protocol: Protocol,
    chosen: Chosen,
    data: Path,
    kind: str,
    device: str,
    unfinished: Unfinished,
) -> Performed:
    started = time.perf_counter()
    records = _run_batch(batch, protocol, chosen, load(protocol.dataset, data), kind, device, unfinished)
    return batch, records, time.perf_counter() - started


def _key(cell: Cell, protocol: Protocol, chosen: Chosen, kind: str, device: str) -> str:
    key = cell.key(protocol, chosen.parameters(cell.training, cell.confidence))
    return key if kind == RUNS else key_again(key, _device_in_words(device), ls.__version__)


def _run_batch(
    batch: Sequence[Cell],
    protocol: Protocol,
    chosen: Chosen,
    points: Points,
    kind: str,
    device: str,
    unfinished: Unfinished,
) -> list[Record]:
    divided: dict[tuple[int, int], Division] = {}
    pools: dict[tuple[int, int], tuple[ls.Pool, ls.Pool]] = {}
    own = []
    for cell in batch:
        here = cell.protocol(protocol)
        place = (cell.seed, here.validation)
        if place not in divided:
            divided[place] = division(points, here, cell.seed)
            pools[place] = ls.Pool(divided[place].pool.x), ls.Pool(divided[place].validation.x)
        ledger = unfinished.ledger(_key(cell, protocol, chosen, kind, device))
        own.append(_settings(cell, here, chosen, divided[place], *pools[place]) | {"ledger": ledger})
    had_begun, started = any(len(settings["ledger"]) for settings in own), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelsieveWarning)
        runs = ls.autolabel_many(
            None,
            None,
            own,
            classes=int(points.y.max()) + 1,
            tolerance=TOLERANCE,
            query="margin-random",
            device=device,
            progress=False,
        )
    seconds = round((time.perf_counter() - started) / len(batch), 2)
    return [
        {
            "key": _key(cell, protocol, chosen, kind, device),
            **_described(cell, protocol, chosen),
            **_measured(run, divided[cell.seed, cell.protocol(protocol).validation].pool.y),
            "seconds": None if had_begun else seconds,
            "side_by_side": len(batch),
            "device": _device_in_words(device),
            "precision": protocol.precision,
            "date": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "version": ls.__version__,
        }
        for cell, run in zip(batch, runs, strict=True)
    ]


def _settings(
    cell: Cell, protocol: Protocol, chosen: Chosen, divided: Division, pool: ls.Pool, validation: ls.Pool
) -> dict[str, Any]:
    """Keywords of ``ls.autolabel``."""
    classifier, confidence = chosen.methods(protocol, cell.training, cell.confidence)
    return {
        "pool": pool,
        "annotator": ls.SimulatedAnnotator(divided.pool.y),
        "validation": (validation, divided.validation.y),
        "train_budget": protocol.train_budget,
        "seed_size": protocol.seed_size,
        "batch_size": protocol.batch_size,
        "calibration_fraction": protocol.calibration_fraction,
        "classifier": classifier,
        "training": classifier.training,
        "confidence": confidence,
        "thresholds": cell.thresholds,
        "random_state": cell.seed,
    }


def _described(cell: Cell, protocol: Protocol, chosen: Chosen) -> Record:
    return {
        "dataset": protocol.dataset,
        "training": cell.training,
        "confidence": cell.confidence,
        "thresholds": cell.thresholds,
        "seed": cell.seed,
        "changes": dict(cell.changes),
        **chosen.parameters(cell.training, cell.confidence),
    }


def _measured(run: ls.Run, truth: np.ndarray[Any, Any]) -> Record:
    """Error and coverage over N_u, by the truth that no part of the run has seen."""
    found = run.evaluate(truth)
    wrong = dict(zip(found.per_round["round"], found.per_round["wrong"], strict=True))
    return {
        "pool": run.pool_size,
        "machine_labels": run.machine_labels,
        "wrong": len(found.wrong),
        "coverage": round(found.coverage, 6),
        "error": None if found.error is None else round(found.error, 6),
        "human_labels": run.human_labels,
        "rounds": [
            {
                "train_points": report.train_points,
                "labelled": report.machine_labelled,
                "wrong": int(wrong.get(report.number, 0)),
            }
            for report in run.rounds
        ],
        "fallback_rounds": sum(report.confidence_fallback is not None for report in run.rounds),
        "stop_reason": run.stop_reason,
    }


def _device_in_words(device: str) -> str:
    if device == "cpu":
        return "CPU"
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"


def _in_words(batch: Sequence[Cell]) -> str:
    def distinct(name: str) -> str:
        return "/".join(dict.fromkeys(str(getattr(cell, name)) for cell in batch))

    return f"{distinct('training')}; {distinct('thresholds')}; seeds {distinct('seed')}"
