"""All benchmarks: ``python -m benchmarks [--device cuda] [--data DATA] [--parts ...]`` prints tables and keeps history.

DATA holds the datasets of whole runs (mnist, and cifar10 for a GPU); without it those are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import automatic_choice, fits, growth, pool, runs, thresholds
from benchmarks.harness import HISTORY, Row, record, table

PARTS = ("thresholds", "fits", "pool", "choice", "growth", "mnist", "combinations", "cifar10")
ON_A_CPU = ("thresholds", "fits", "pool", "choice", "growth", "mnist")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(ON_A_CPU))
    parser.add_argument(
        "--points", type=int, help="of the pool on disk, 100000, and for the automatic choice, 50000; 1000000 is much"
    )
    parser.add_argument("--history", type=Path, default=HISTORY)
    given = parser.parse_args()
    growths: list[growth.Growth] = []
    rows: list[Row] = []
    for part in given.parts:
        if part == "growth":
            growths = growth.results(given.device)
            for one in growths:
                print(f"{one.name}: time ~ ({one.variable}) ^ {one.exponent:.2f}", flush=True)
            continue
        if part in ("mnist", "combinations", "cifar10") and given.data is None:
            print(f"{part}: left out, since --data names no folder of datasets", flush=True)
            continue
        found = _results(part, given)
        print(f"\n{part}\n{table(found)}", flush=True)
        rows += found
    record(rows, growths, given.device, given.history)


def _results(part: str, given: argparse.Namespace) -> list[Row]:
    if part == "thresholds":
        return thresholds.results()
    if part == "fits":
        return fits.results(given.device)
    if part == "pool":
        return pool.results(given.points or 100_000)
    if part == "choice":
        return automatic_choice.results(given.points or automatic_choice.USUAL_POINTS)
    return runs.results(given.data, given.device, [part])


if __name__ == "__main__":
    main()
