"""The command line: ``python -m experiments.coverage run|limit|table``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments.coverage import limit, running
from experiments.paper.datasets import data_folder
from experiments.paper.store import Store
from experiments.paper.unfinished import Unfinished

DOCS = Path(__file__).parents[2] / "docs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.coverage", description=__doc__)
    parser.add_argument("--results", type=Path, default=running.RESULTS)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="command")
    run = commands.add_parser("run", help="run what has no result yet")
    run.add_argument("--dataset", default=",".join(running.datasets()))
    run.add_argument("--variant", default=",".join(running.variants()))
    run.add_argument("--seeds", default="0,1,2,3,4")
    run.add_argument("--device", default="auto")
    run.add_argument("--cache", type=Path, default=running.FOLDER / "cache", help="folder for runs in progress")
    commands.add_parser("limit", help="how far the features of Tiny-ImageNet go, whatever the number of labels")
    commands.add_parser("table", help="write docs/coverage.md and its figures")
    given = parser.parse_args()
    store = Store(given.results)
    if given.command == "run":
        seeds = [int(seed) for seed in given.seeds.split(",")]
        names, variants, unfinished = given.dataset.split(","), given.variant.split(","), Unfinished(given.cache)
        running.run(names, variants, seeds, store, data_folder(), given.device, unfinished)
    elif given.command == "limit":
        limit.run(store, data_folder())
    else:
        from experiments.coverage import document

        document.write(store, DOCS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
