"""The options of the commands that work on a project. Imports nothing heavy: ``--help`` answers at once."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from labelsieve.cli.label_studio import add_label_studio

FORMATS = ("csv", "jsonl", "parquet", "hugging-face", "label-studio")


def add_project_commands(commands: Any) -> None:
    """All of them."""
    _add_init(commands)
    add = _add(commands, "add", "add items before the first run", "Add the items whose ids the project does not have.")
    add.add_argument("--data", type=Path, required=True, metavar="PATH", help="file or folder, laid out as the first")
    run = _add(commands, "run", "work until people are needed", "Train, label and ask until people are needed or done.")
    run.add_argument("--simulate", metavar="COLUMN", help="answer from this column of the data in place of people")
    ask = _add(commands, "ask", "write questions for people to a CSV file", "Write what people are asked about now.")
    ask.add_argument("--out", type=Path, required=True, metavar="FILE", help="CSV file to write; fill in column label")
    ask.add_argument("--limit", type=_count, metavar="N", help="at most this many questions")
    answer = _add(commands, "answer", "read people's answers from a CSV file", "Read the file that `ask` wrote.")
    answer.add_argument("file", type=Path, metavar="FILE", help="CSV file with the columns id and label")
    answer.add_argument("--annotator", metavar="NAME", help="who answered; needed if several people label each item")
    status = _add(commands, "status", "where things stand and what to do next", "Tell where a project stands.")
    status.add_argument("--json", action="store_true", help="for programs")
    export = _add(commands, "export", "write the labels to a file", "Write labels with their provenance.")
    export.add_argument("--format", choices=FORMATS, help="default: what the name of the file ends in")
    export.add_argument("--out", type=Path, required=True, metavar="FILE", help="file, or folder for hugging-face")
    export.add_argument("--all", action="store_true", help="also items without a label")
    export.add_argument("--only", choices=("human", "machine"), help="labels of people, or of the machine")
    export.add_argument("--min-confidence", type=float, metavar="C", help="machine labels from this confidence on")
    export.add_argument("--content", action="store_true", help="with the text, the path or the row itself")
    _add(commands, "report", "write the report page", "Write labels.csv, run.json and report.html into DIR/report.")
    serve = _add(commands, "serve", "a page to label on", "Serve pages on which people label, look and review.")
    serve.add_argument("--host", default="127.0.0.1", help="who may come: this machine alone (default: %(default)s)")
    serve.add_argument("--port", type=int, default=8000, help="default: %(default)s")
    serve.add_argument("--people", metavar="A,B", help="make a link for each of these people, who then need theirs")
    serve.add_argument("--admin", metavar="NAME", help="make a link for somebody who may see and review everything")
    people = _add(commands, "people", "who has a link to the pages", "List who may log in, or take a link away.")
    people.add_argument("--remove", metavar="NAME", help="make the link of this person void, at once")
    add_label_studio(commands)


def _add_init(commands: Any) -> None:
    init = _add(
        commands,
        "init",
        "make a project from a file of data",
        "Read a CSV, TSV, JSONL, Parquet, .npy or .npz file, a folder of images or a Hugging Face dataset on disk, say "
        "what it holds, and make a project folder.",
    )
    init.add_argument("--data", required=True, metavar="PATH", help="file or folder with the items to label")
    init.add_argument("--classes", required=True, metavar="A,B,C", help="names of the classes, separated by commas")
    kind = init.add_mutually_exclusive_group()
    kind.add_argument("--text", metavar="COLUMN", help="items are texts, in this column")
    kind.add_argument("--image", metavar="COLUMN", help="items are images, whose paths are in this column")
    kind.add_argument("--features", metavar="A,B,…", help="items are rows of a table, of which these columns count")
    init.add_argument("--id", metavar="COLUMN", help="column that names the items (default: row numbers)")
    init.add_argument("--encoding", metavar="NAME", help="of a CSV or JSONL file (default: UTF-8)")
    init.add_argument(
        "--answers-from", type=Path, metavar="OLD", help="learn from the answers that people gave in the project OLD"
    )
    for name, text in (
        ("tolerance", "share of wrong machine labels you accept (default: 0.05)"),
        ("delta", "probability with which the promise may fail (default: 0.05)"),
    ):
        init.add_argument(f"--{name}", type=float, metavar="SHARE", help=text)
    for name, text in (
        ("train-budget", "human labels to learn from (default: 500, or a sixth of few items)"),
        ("validation-budget", "human labels to check with (default: 500, or a third of few items)"),
        ("seed", "another seed draws other points (default: 0)"),
    ):
        init.add_argument(f"--{name}", type=int, metavar="N", help=text)
    init.add_argument(
        "--stop-early",
        action=argparse.BooleanOptionalAction,
        help="ask for no more labels to learn from once that no longer pays (default: where models are quick to train)",
    )


def _add(commands: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=description)
    command.add_argument("folder", type=Path, metavar="DIR", help="folder of the project")
    command.set_defaults(run=_late(name))
    return command


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on; got {text!r}")
    return int(text)


def _late(name: str) -> Any:
    def run(arguments: argparse.Namespace) -> int:
        status: int = getattr(import_module(f"labelsieve.cli.{name}"), name)(arguments)
        return status

    return run
