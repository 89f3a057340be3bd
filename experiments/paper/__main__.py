"""The command line of the experiments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.paper import cells
from experiments.paper.configuration import ANCHORED, CONFIDENCES, DATASETS, RULES, TRAININGS, Protocol, protocol
from experiments.paper.store import AGAIN, RESULTS, RUNS, Store
from labelsieve.errors import LabelsieveError

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CACHE = Path(__file__).parent / "cache"
ALL_CONFIDENCES = (*CONFIDENCES, ANCHORED)


def main(arguments: Sequence[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    try:
        parsed.do(parsed)
    except LabelsieveError as error:
        print(f"experiments.paper: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.paper", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of results (those that are committed)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    fetch = commands.add_parser("fetch", help="download the datasets from their official sources")
    fetch.add_argument("folder", type=Path)
    fetch.add_argument("--dataset", type=_names(DATASETS), default=DATASETS)
    fetch.set_defaults(do=_fetch)
    for name, do, text in (
        ("search", _search, "choose hyper-parameters by the paper's protocol"),
        ("run", _run, "run cells of the table, or of a sweep; those that have a result are left alone"),
        ("single-round", _single_round, "the experiment of Section 2.2"),
        ("training-error", _training_error, "training error and ranking of the train-time methods"),
        ("leak", _leak, "how the printed coverage arises"),
        ("all", _all, "everything above, then the page"),
        ("again", _again, "run cells of the table again from nothing, to compare"),
    ):
        command = commands.add_parser(name, help=text)
        _add_choices(command)
        command.set_defaults(do=do)
    for name, do, text in (
        ("page", _page, "write docs/results.md and draw its figures from the results"),
        ("table", _table, "write docs/results.md alone"),
        ("figures", _figures, "draw its figures alone"),
    ):
        commands.add_parser(name, help=text).set_defaults(do=do)
    renew = commands.add_parser(
        "renew", help="take what a newer version ran again into the table; what it replaces stays to be compared"
    )
    renew.add_argument("--dataset", type=_names(DATASETS), default=DATASETS)
    renew.set_defaults(do=_renew)
    gather = commands.add_parser("gather", help="take over results from another folder, such as another machine's")
    gather.add_argument("folder", type=Path)
    gather.set_defaults(do=_gather)
    return parser


def _add_choices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", type=_names(DATASETS), default=DATASETS, help=", ".join(DATASETS))
    parser.add_argument("--training", type=_names(TRAININGS), default=TRAININGS, help=", ".join(TRAININGS))
    parser.add_argument(
        "--confidence", type=_names(ALL_CONFIDENCES), default=ALL_CONFIDENCES, help=", ".join(ALL_CONFIDENCES)
    )
    parser.add_argument("--thresholds", type=_names(RULES), default=RULES, help=", ".join(RULES))
    parser.add_argument(
        "--seeds", type=_seeds, help="such as 0-4 or 0,2; as many as the dataset's file says if left out"
    )
    parser.add_argument("--sweep", help="a sweep of the dataset's file, in place of the table")
    parser.add_argument("--data", type=Path, help="folder of the datasets (LABELSIEVE_DATA)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for searches and runs in progress")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    parser.add_argument("--at-once", type=int, help="runs side by side; as the dataset's file says if left out")
    parser.add_argument("--processes", type=int, default=1, help="how many times so many runs, each in its own process")


def _names(known: Sequence[str]):  # type: ignore[no-untyped-def]
    def names(text: str) -> tuple[str, ...]:
        given = tuple(text.split(","))
        unknown = [name for name in given if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}; got {unknown[0]!r}")
        return given

    return names


def _seeds(text: str) -> tuple[int, ...]:
    first, dash, last = text.partition("-")
    try:
        return tuple(range(int(first), int(last) + 1)) if dash else tuple(int(seed) for seed in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected 0-4 or 0,2; got {text!r}") from None


def _data(parsed: argparse.Namespace) -> Path:
    from experiments.paper.datasets import data_folder

    return parsed.data or data_folder()


def _search(parsed: argparse.Namespace) -> None:
    from experiments.paper.searching import search_all

    for dataset in parsed.dataset:
        search_all(
            protocol(dataset),
            parsed.training,
            parsed.confidence,
            Store(parsed.results),
            _data(parsed),
            parsed.cache,
            parsed.device,
        )


def _run(parsed: argparse.Namespace) -> None:
    _run_as(RUNS, parsed)


def _again(parsed: argparse.Namespace) -> None:
    _run_as(AGAIN, parsed)


def _run_as(kind: str, parsed: argparse.Namespace) -> None:
    from experiments.paper.running import run_cells
    from experiments.paper.unfinished import Unfinished

    unfinished = Unfinished(parsed.cache / ("unfinished" if kind == RUNS else f"unfinished-{kind}"))
    for dataset in parsed.dataset:
        of_dataset = protocol(dataset)
        if parsed.at_once is not None:
            of_dataset = of_dataset.changed({"at_once": parsed.at_once})
        wanted = [cell for cell in _cells(of_dataset, parsed.sweep) if _is_wanted(cell, parsed)]
        store, data = Store(parsed.results), _data(parsed)
        run_cells(wanted, of_dataset, store, data, parsed.device, unfinished, parsed.processes, kind)


def _cells(of_dataset: Protocol, sweep: str | None) -> list[cells.Cell]:
    if sweep is None:
        return cells.of_table(of_dataset)
    return cells.of_sweep(of_dataset.sweeps[sweep]) if sweep in of_dataset.sweeps else []


def _is_wanted(cell: cells.Cell, parsed: argparse.Namespace) -> bool:
    return (
        cell.training in parsed.training
        and cell.confidence in parsed.confidence
        and cell.thresholds in parsed.thresholds
        and (parsed.seeds is None or cell.seed in parsed.seeds)
    )


def _single_round(parsed: argparse.Namespace) -> None:
    from experiments.paper import single_round

    single_round.run(Store(parsed.results), _data(parsed), parsed.device, parsed.seeds or (0, 1, 2))


def _training_error(parsed: argparse.Namespace) -> None:
    from experiments.paper import training_error

    training_error.run(Store(parsed.results), _data(parsed), parsed.device, parsed.dataset)


def _leak(parsed: argparse.Namespace) -> None:
    from experiments.paper import leak

    datasets = [dataset for dataset in parsed.dataset if dataset in leak.DATASETS]
    leak.run(Store(parsed.results), _data(parsed), parsed.device, datasets, parsed.seeds or (0, 1))


def _page(parsed: argparse.Namespace) -> None:
    _figures(parsed)
    _table(parsed)


def _table(parsed: argparse.Namespace) -> None:
    from experiments.paper import document

    document.write(Store(parsed.results), DOCS)


def _figures(parsed: argparse.Namespace) -> None:
    from experiments.paper import figures

    for path in figures.draw(Store(parsed.results), DOCS / "results"):
        print(path)


def _all(parsed: argparse.Namespace) -> None:
    _search(parsed)
    _run(parsed)
    for sweep in dict.fromkeys(name for dataset in parsed.dataset for name in protocol(dataset).sweeps):
        parsed.sweep = sweep
        _run(parsed)
    _single_round(parsed)
    _training_error(parsed)
    _leak(parsed)
    _page(parsed)


def _renew(parsed: argparse.Namespace) -> None:
    from experiments.paper.renewal import renew

    renewed = renew(Store(parsed.results), parsed.dataset)
    print(f"{renewed} runs of the table are by a newer version now")


def _gather(parsed: argparse.Namespace) -> None:
    print(f"{Store(parsed.results).gather(Store(parsed.folder))} new results")


def _fetch(parsed: argparse.Namespace) -> None:
    from experiments.paper.fetch import fetch

    fetch(parsed.folder, parsed.dataset)


if __name__ == "__main__":
    sys.exit(main())
