"""How the printed coverage arises: the score is handed the true mistake flag in place of the predicted class.

The authors' code did so for a time. Here the same loop (``leak_loop.py``) runs several ways from the same first
classifier: ``softmax``; ``honest``, with Colander as printed and the authors' values; ``leaking``, the same with the
flag; and with the epoch of g chosen as their code does it, by coverage on the very points that set the thresholds:
``fixed``, without the flag, and ``released``, with it. Nothing in the package can do any of the last three.

With the authors' values g comes out almost the same for all points. So honest scores say nothing within a class:
whole classes are labelled, those with few mistakes among the few points that set thresholds. The leaking score is one
number for all right predictions and another for all wrong ones. In a round where the first is the larger, all right
predictions are labelled and no wrong one; until then, it goes like the honest way. Choosing an epoch by coverage looks
for one where the first is the larger.

Records of kind ``leak``, one per dataset, seed and way::

    key, dataset, seed, way
    pool                 number of points
    coverage, error      over the whole pool, all rounds; error is null if nothing is labelled
    rounds               list of {train_points, threshold_points, candidates, accuracy, machine_labelled, wrong,
                         fell_back_to_softmax}; ``accuracy`` is over the candidates
    first_round          {number, scores, thresholds, predicted, right} of a random sample of its candidates;
                         ``thresholds`` has one entry per class, null where nothing is labelled
    largest_round        the same of the round that labels most
    colander             its parameters, null for softmax
    seconds, precision, device
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import labelsieve as ls
from experiments.paper.configuration import TOLERANCE, Protocol
from experiments.paper.configuration import protocol as protocol_of
from experiments.paper.datasets import division, load
from experiments.paper.leak_loop import Scores, first_model, label
from experiments.paper.printed_form import AUTHORS_VALUES, kind_of_device, plain_network, printed_colander
from experiments.paper.store import Record, Store, key_of

KIND = "leak"
DATASETS = ("mnist", "cifar10")
WAYS = ("softmax", "honest", "leaking", "fixed", "released")
GIVEN_THE_FLAG, EPOCH_CHOSEN = ("leaking", "released"), ("fixed", "released")
EPOCHS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""To choose from. A fit that ends earlier is the beginning of one that ends later."""
SEEDS = (0, 1)
_SHOWN = 2_000
"""Points of a round whose scores are kept."""


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
        for seed in seeds:
            missing = [way for way in WAYS if _key(protocol, seed, way) not in known]
            if missing:
                _run_seed(store, data_folder, device, protocol, seed, missing)


def summary(store: Store) -> dict[str, dict[str, dict[str, Any]]]:
    """Per dataset and way: coverage and error of each seed, in all rounds and in the first, and how often the first
    classifier is right. An error is None where nothing is labelled."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for dataset in DATASETS:
        records = sorted(store.read(KIND, dataset), key=lambda record: record["seed"])
        for way in WAYS:
            own = [record for record in records if record["way"] == way]
            if own:
                found.setdefault(dataset, {})[way] = {
                    "seeds": [record["seed"] for record in own],
                    "coverages": [record["coverage"] for record in own],
                    "errors": [record["error"] for record in own],
                    "first_coverages": [_first_coverage(record) for record in own],
                    "first_errors": [_first_error(record) for record in own],
                    "first_accuracy": mean(record["rounds"][0]["accuracy"] for record in own),
                }
    return found


@dataclass(frozen=True)
class FlagFacts:
    """Pairs of runs that label something and differ in the flag alone: how often it lowers the error, brings it within
    the tolerance, and raises the coverage."""

    pairs: int
    lower_error: int
    within: int
    more_coverage: int


def flag_facts(found: dict[str, dict[str, dict[str, Any]]]) -> FlagFacts:
    """``found`` is the summary."""
    both = []
    for ways in found.values():
        for without, given in (("honest", "leaking"), ("fixed", "released")):
            honest, told = _by_seed(ways.get(without)), _by_seed(ways.get(given))
            both += [(honest[seed], told[seed]) for seed in honest.keys() & told.keys()]
    compared = [(one, other) for one, other in both if None not in (one[1], other[1])]
    return FlagFacts(
        pairs=len(compared),
        lower_error=sum(told[1] < honest[1] for honest, told in compared),
        within=sum(told[1] <= TOLERANCE < honest[1] for honest, told in compared),
        more_coverage=sum(told[0] > honest[0] for honest, told in compared),
    )


def _by_seed(way: dict[str, Any] | None) -> dict[int, tuple[float, Any]]:
    """Coverage and error."""
    if way is None:
        return {}
    return dict(zip(way["seeds"], zip(way["coverages"], way["errors"], strict=True), strict=True))


def _run_seed(store: Store, data_folder: Path, device: str, protocol: Protocol, seed: int, ways: Sequence[str]) -> None:
    divided = division(load(protocol.dataset, data_folder), protocol, seed)
    classifier = plain_network(protocol, device)
    first = first_model(divided, protocol, classifier, seed)
    for way in ways:
        started = time.perf_counter()
        colander = printed_colander(protocol, device)
        confidence = ls.confidence.Softmax() if way == "softmax" else colander
        done = label(
            divided, protocol, classifier, first, confidence, seed,
            leaking=way in GIVEN_THE_FLAG, epochs=EPOCHS if way in EPOCH_CHOSEN else (),
        )  # fmt: skip
        seconds = time.perf_counter() - started
        record = {
            "key": _key(protocol, seed, way),
            "dataset": protocol.dataset,
            "seed": seed,
            "way": way,
            "coverage": round(done.coverage, 6),
            "error": None if done.error is None else round(done.error, 6),
            "pool": done.pool_size,
            "rounds": [{**asdict(each), "accuracy": round(each.accuracy, 6)} for each in done.rounds],
            "first_round": _shown(done.first, seed),
            "largest_round": _shown(done.largest, seed),
            "colander": None if way == "softmax" else AUTHORS_VALUES[protocol.dataset],
            "seconds": round(seconds, 1),
            "precision": classifier.get_params()["precision"],
            "device": kind_of_device(device),
        }
        store.add(KIND, protocol.dataset, [record])
        wrong = "" if done.error is None else f"{100 * done.error:.1f} % of it wrong, "
        print(
            f"leak: {protocol.title}, seed {seed}, {way}: {100 * done.coverage:.1f} % labelled, {wrong}"
            f"{len(done.rounds)} rounds in {seconds:.0f} s",
            flush=True,
        )


def _key(protocol: Protocol, seed: int, way: str) -> str:
    names = ("pool", "validation", "train_budget", "first_batch", "next_batch", "calibration_fraction", "classifier")
    sizes = {name: getattr(protocol, name) for name in names}
    return key_of({
        "kind": KIND, "dataset": protocol.dataset, "seed": seed, "way": way, "sizes": sizes,
        "reserved": protocol.search.points, "colander": AUTHORS_VALUES[protocol.dataset],
        **({"epochs": EPOCHS} if way in EPOCH_CHOSEN else {}),
    })  # fmt: skip


def _shown(of_round: Scores, seed: int) -> Record:
    """A sample. Scores that hardly differ are the rule here, so many digits are kept."""
    rows = np.random.default_rng(seed).permutation(len(of_round.scores))[:_SHOWN]
    return {
        "number": of_round.number,
        "scores": [float(f"{score:.8g}") for score in of_round.scores[rows]],
        "thresholds": [float(f"{each:.8g}") if np.isfinite(each) else None for each in of_round.thresholds],
        "predicted": of_round.predicted[rows].tolist(),
        "right": of_round.right[rows].astype(int).tolist(),
    }


def _first_coverage(record: Record) -> float:
    return float(record["rounds"][0]["machine_labelled"] / record["pool"])


def _first_error(record: Record) -> float | None:
    first = record["rounds"][0]
    return float(first["wrong"] / first["machine_labelled"]) if first["machine_labelled"] else None
