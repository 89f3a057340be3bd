"""How far the features of Tiny-ImageNet go: a linear head with as many labels as its pool has points.

It uses labels of pool points, which no run may. Nothing is chosen by what comes out: it says whether labels or features
are in the way.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import labelsieve as ls
from experiments.paper.configuration import TOLERANCE, protocol
from experiments.paper.datasets import load
from experiments.paper.store import Record, Store, key_of
from labelsieve.expectation import coverage_at
from labelsieve.registry import create

KIND = "limit"
DATASET, CLASSIFIER = "tiny_imagenet", "embedding"
LABELS = (10_000, 30_000, 90_000)
_JUDGED = 10_000


def run(store: Store, data: Path, labels: tuple[int, ...] = LABELS) -> None:
    """What the store does not have."""
    known = {record["key"] for record in store.read(KIND, DATASET)}
    points = load(DATASET, data)
    order = np.random.default_rng(0).permutation(len(points))
    judged, others = order[:_JUDGED], order[_JUDGED:]
    for n in labels:
        key = key_of({"kind": KIND, "dataset": DATASET, "classifier": CLASSIFIER, "labels": n})
        if key in known:
            continue
        started, taught = time.perf_counter(), others[:n]
        head = create("classifier", CLASSIFIER).fit(
            points.x[taught].astype(np.float32), points.y[taught].astype(np.int64), int(points.y.max()) + 1, seed=0
        )
        said = head.outputs(points.x[judged].astype(np.float32))
        right = said.predicted == points.y[judged]
        record: Record = {
            "key": key,
            "labels": n,
            "right": round(float(right.mean()), 6),
            "coverage": round(coverage_at(TOLERANCE, said.top_probabilities, right), 6),
            "seconds": round(time.perf_counter() - started, 1),
            "version": ls.__version__,
        }
        store.add(KIND, DATASET, [record])
        print(
            f"{protocol(DATASET).title}: with {n:,} labels {record['right']:.1%} right, {record['coverage']:.1%} at an "
            f"error of {TOLERANCE:.0%} in hindsight, {record['seconds']:.0f} s",
            flush=True,
        )
