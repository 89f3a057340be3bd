"""Scoring a pool on disk, its memory, and a round's bookkeeping, each beside the naive way.

``python -m benchmarks.pool`` takes a minute or two; ``--points 1000000`` and ``--points 5000000`` are the full sizes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import labelsieve as ls
from benchmarks.harness import Row, seconds, table
from labelsieve import registry
from labelsieve.classifiers.torch_classifier import TorchClassifier
from labelsieve.confidence import Softmax
from labelsieve.engine.progress import Observer
from labelsieve.engine.scoring import PoolScores, score_pool
from labelsieve.queries import MarginRandom

N_CLASSES = 10
LARGEST_IN_MEMORY = 1_000_000
BLOCK = 32_768
"""Points written, or timed, at a time. Both ways take turns block by block, so that a busy machine slows both."""


def write_points(path: Path, n: int, dim: int) -> None:
    """n × dim float16 numbers, in pieces; the same block again and again, since values do not matter."""
    block = np.random.default_rng(0).normal(size=(BLOCK, dim)).astype(np.float16)
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(block.dtype), "fortran_order": False, "shape": (n, dim)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, n, BLOCK):
            block[: n - start].tofile(file)
        file.flush()
        os.fsync(file.fileno())  # what is not written yet cannot be forgotten


def forget(path: Path) -> None:
    """Out of the system's cache, so that it has to be read from disk again."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def trained(dim: int) -> TorchClassifier:
    """The 1000-500-30 network; how well it was trained does not matter here."""
    x = np.random.default_rng(1).normal(size=(500, dim)).astype(np.float16)
    network: TorchClassifier = registry.create("classifier", "mlp").set_params(epochs=1)
    return network.fit(x, np.arange(500) % N_CLASSES, N_CLASSES, seed=0)


@torch.inference_mode()
def bare_forward(network: TorchClassifier, x: np.ndarray) -> None:
    """The network over an array in memory, results thrown away; batches of 1,024 are the fastest here."""
    for start in range(0, len(x), 1024):
        network.module_(torch.from_numpy(x[start : start + 1024]).to(network.device_).float())


def ours(pool: ls.Pool, rows: np.ndarray, network: TorchClassifier) -> PoolScores:
    """Predicted classes, scores and margins, read from disk."""
    return score_pool(pool, rows, network, Softmax(), MarginRandom(), lambda _done, _total: None)


def naive(path: Path, network: TorchClassifier) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same by loading everything, then one step after the other over all of it."""
    x = torch.from_numpy(np.load(path)).float()
    with torch.inference_mode():
        logits = torch.cat([network.module_(part.to(network.device_))[0].cpu() for part in x.split(1024)])
    probabilities = torch.softmax(logits.double(), dim=1)
    top = probabilities.topk(2, dim=1).values
    return logits.argmax(dim=1).numpy(), top[:, 0].numpy(), (top[:, 0] - top[:, 1]).numpy()


def scoring_time(path: Path, n: int, dim: int) -> Row:
    network, pool = trained(dim), ls.Pool(path)
    x = np.load(path)
    bare_forward(network, x[:BLOCK])
    in_memory, from_disk = [], []
    for start in range(0, n, BLOCK):
        rows = np.arange(start, min(n, start + BLOCK))
        in_memory.append(seconds(lambda rows=rows: bare_forward(network, x[rows[0] : rows[-1] + 1])) / len(rows))
        forget(path)
        from_disk.append(seconds(lambda rows=rows: ours(pool, rows, network)) / len(rows))
    return Row(
        f"score {n:,} × {dim} from disk",
        float(np.median(from_disk)) * n,
        float(np.median(in_memory)) * n,
        note="medians over blocks; naive: forward pass alone, in memory",
    )


def peak_memory(path: Path, n: int, dim: int) -> Row:
    """The naive way is left out where it may need more than there is."""
    too_large = n > LARGEST_IN_MEMORY
    naive = None if too_large else _grown("naive", path, dim)
    note = "growth from opening the file to the last score" + ("" if too_large else "; naive: load it, then score")
    return Row(f"peak memory, {n:,} × {dim}", _grown("ours", path, dim), naive, "MB", note)


def _grown(way: str, path: Path, dim: int) -> float:
    """In a process of its own."""
    command = [sys.executable, "-m", "benchmarks.pool", "--grow", way, "--file", str(path), "--dim", str(dim)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def growth(way: str, path: Path, dim: int) -> float:
    """In MB, from what this process takes now to the most it ever took (``ru_maxrss`` would count its parent, too)."""
    network = trained(dim)
    bare_forward(network, np.zeros((2048, dim), dtype=np.float16))
    before = memory("VmRSS")
    if way == "ours":
        pool = ls.Pool(path)
        ours(pool, np.arange(len(pool)), network)
    else:
        naive(path, network)
    return memory("VmHWM") - before


def memory(what: str) -> float:
    """A line of Linux's account of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(what))
    return int(line.split()[1]) / 1024


class Watch(Observer):
    """How long training and scoring took; the rest of a run is bookkeeping."""

    def __init__(self) -> None:
        self.costly = 0.0

    def round_started(self, number: int, train_points: int) -> None:
        self._since = time.perf_counter()

    def training(self, share: float) -> None:
        self._count()

    def scoring(self, done: int, total: int) -> None:
        if done:
            self._count()
        self._since = time.perf_counter()

    def _count(self) -> None:
        now = time.perf_counter()
        self.costly += now - self._since
        self._since = now


def bookkeeping(n: int) -> Row:
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=n)
    x = (rng.normal(size=(n, N_CLASSES)) + 6 * np.eye(N_CLASSES)[y]).astype(np.float32)
    annotator, watch = ls.SimulatedAnnotator(y), Watch()
    started = time.perf_counter()
    run = ls.autolabel(
        x, annotator, classes=N_CLASSES, train_budget=2000, validation_budget=1000, seed_size=1000, batch_size=1000,
        classifier="logistic", progress=watch,
    )  # fmt: skip
    assert len(run.labels) == run.machine_labels + run.human_labels
    run.evaluate(y)
    ours = time.perf_counter() - started - watch.costly
    scores, predicted = rng.random(n), y
    naive = seconds(lambda: one_object_per_point(scores, predicted))
    note = f"a run of {len(run.rounds)} rounds but for train and score, {run.coverage:.0%} labelled by machine; "
    return Row(f"bookkeeping, {n:,} points", ours, naive, note=note + "naive: one round, an object per point")


def one_object_per_point(scores: np.ndarray, predicted: np.ndarray) -> None:
    """Question, machine labels and table of one round, the way a first version would do it."""
    both = enumerate(zip(scores, predicted, strict=True))
    points = [{"id": number, "score": float(score), "label": int(label)} for number, (score, label) in both]
    asked = {point["id"] for point in sorted(points, key=lambda point: point["score"])[:1000]}
    ledger = [{**point, "source": "machine"} for point in points if point["score"] > 0.1 and point["id"] not in asked]
    pd.DataFrame(ledger)


def results(points: int = 100_000, dim: int = 256, bookkeeping_points: int = 1_000_000) -> list[Row]:
    """One row per figure: ours, the naive way in the same run, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.npy"
        write_points(path, points, dim)
        timed = [] if points > LARGEST_IN_MEMORY else [scoring_time(path, points, dim)]
        return [*timed, peak_memory(path, points, dim), bookkeeping(bookkeeping_points)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=256)
    parser.add_argument("--bookkeeping-points", type=int, default=1_000_000)
    parser.add_argument("--grow", choices=("ours", "naive"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.grow:
        print(growth(given.grow, given.file, given.dim))
        return
    print(table(results(given.points, given.dim, given.bookkeeping_points)))


if __name__ == "__main__":
    main()
