"""The entry point: reads the command line and turns failures into one clear line.

Commands are imported when they are run, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any, TextIO

from labelsieve import __version__
from labelsieve.cli.project_options import add_project_commands
from labelsieve.errors import LabelsieveError

_FAILED, _INTERRUPTED, _READER_GONE = 2, 130, 141


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns its exit status: 0, 2 for an error that is explained, 130 when interrupted."""
    arguments = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a dot that a terminal cannot show must not end a run
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note
            status = int(arguments.run(arguments))
            sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print(f"labelsieve: interrupted{_way_on(arguments)}", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; Python must not complain about it when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_GONE
    except (LabelsieveError, OSError) as error:
        print(f"labelsieve: error: {_in_words(error)}", file=sys.stderr)
        return _FAILED


def _way_on(arguments: argparse.Namespace) -> str:
    if arguments.command != "run":
        return ""
    return ". All that was finished is kept; the same command goes on from there."


def _in_words(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"there is no {error.filename}. Check the name, and that the folder it should be in is there."
    if isinstance(error, OSError) and error.filename is not None:
        return (
            f"the system says of {error.filename}: {error.strerror}. See that it can be read or written there and that "
            "the disk has room, or choose another place."
        )
    return str(error)


def _demo(arguments: argparse.Namespace) -> int:
    from labelsieve.cli.demo import demo

    return demo(arguments.out, arguments.seed)


def _audit(arguments: argparse.Namespace) -> int:
    from labelsieve.cli.audit import audit

    return audit(arguments)


def _plan(arguments: argparse.Namespace) -> int:
    from labelsieve.cli.plan import plan

    return plan(arguments)


def _search(arguments: argparse.Namespace) -> int:
    from labelsieve.cli.search import search

    return search(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="labelsieve",
        description="Label a large dataset with few human labels, and know how wrong the machine labels can be.",
    )
    parser.add_argument("--version", action="version", version=f"labelsieve {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    demo = commands.add_parser(
        "demo",
        help="label handwritten digits and write a report",
        description="Label scikit-learn's 1,797 handwritten digits, whose true labels play the human, and write "
        "labels.csv, run.json and report.html. Takes seconds and needs no network.",
    )
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("labelsieve-demo"),
        metavar="DIR",
        help="folder for the files, made if missing; files of an earlier demo are replaced (default: %(default)s)",
    )
    demo.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="another seed asks for other points (default: %(default)s)"
    )
    demo.set_defaults(run=_demo)
    _add_audit(commands)
    _add_plan(commands)
    _add_search(commands)
    add_project_commands(commands)
    return parser


def _add_audit(commands: Any) -> None:
    """The options of ``labelsieve audit``; its defaults are the library's, so none is repeated here."""
    audit = commands.add_parser(
        "audit",
        help="check machine labels at random and certify the rest",
        description="Draw machine labels of a finished run at random, have them checked, and stop as soon as it is "
        "certain enough that few of the others are wrong. Without --simulate or --answers, the next labels to check "
        "are written to DIR/audit-questions.csv. Exit status: 0 certified, 1 not certified (yet), 2 an error.",
    )
    audit.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="folder with the run's labels.csv")
    source = audit.add_mutually_exclusive_group()
    source.add_argument(
        "--simulate",
        metavar="FILE[:COLUMN]",
        help="answer from a CSV file with the columns id and COLUMN (default: label) in place of a human",
    )
    source.add_argument(
        "--answers", type=Path, metavar="FILE", help="read answers: a CSV file with the columns id and answer"
    )
    source.add_argument("--verify", type=Path, metavar="FILE", help="check a certificate.json and the files beside it")
    audit.add_argument("--tolerance", type=float, metavar="E", help="share of wrong labels to rule out (the run's)")
    audit.add_argument("--delta", type=float, metavar="D", help="probability of being wrong about it (default: 0.05)")
    audit.add_argument("--max-labels", type=int, metavar="M", help="ask for at most this many labels in all")
    audit.add_argument("--batch", type=int, metavar="N", help="labels to ask for before looking (default: 25)")
    audit.add_argument("--seed", type=_seed, metavar="S", help="another seed draws other labels (default: 0)")
    audit.add_argument(
        "--slices",
        choices=("auto", "scores", "rounds", "none"),
        help="what may be rolled back; part of the confidence is set aside for it, none keeps it all (default: auto)",
    )
    audit.add_argument(
        "--rollback",
        action="store_true",
        help="if not all machine labels can be certified, take back the least safe ones and certify the others",
    )
    audit.set_defaults(run=_audit)


def _add_plan(commands: Any) -> None:
    """The options of ``labelsieve plan``; what they may be is checked by the library."""
    plan = commands.add_parser(
        "plan",
        help="forecast labels, savings and cost before anyone labels",
        description="Forecast a run with certified thresholds: validation and audit labels needed, a range for the "
        "share the machine can label, labels saved and their cost. A forecast, not a promise.",
    )
    plan.add_argument("--pool", type=int, required=True, metavar="N", help="points to be labelled")
    plan.add_argument("--classes", type=int, required=True, metavar="K", help="number of classes")
    plan.add_argument(
        "--tolerance",
        type=float,
        default=0.05,
        metavar="E",
        help="share of machine labels that may be wrong (default: %(default)s)",
    )
    plan.add_argument(
        "--delta",
        type=float,
        default=0.05,
        metavar="D",
        help="probability with which more may be wrong (default: %(default)s)",
    )
    plan.add_argument("--train-budget", type=int, metavar="N", help="labels to train on (chosen if left out)")
    plan.add_argument("--validation-budget", type=int, metavar="N", help="held-out labels (chosen if left out)")
    plan.add_argument("--budget", type=int, metavar="N", help="split this many labels in all, in place of those two")
    pilot = plan.add_mutually_exclusive_group()
    pilot.add_argument(
        "--pilot",
        type=Path,
        metavar="FILE",
        help="CSV file of labelled points with the columns score (or confidence) and correct",
    )
    pilot.add_argument(
        "--pilot-accuracy", type=float, metavar="A", help="the classifier's accuracy, if only that is known"
    )
    plan.add_argument("--price", type=float, metavar="P", help="price of one label")
    plan.add_argument("--minutes", type=float, metavar="M", help="minutes one label takes")
    plan.add_argument(
        "--candidates",
        type=int,
        metavar="G",
        help="thresholds the certified rule tries (by default as many as suit the validation labels)",
    )
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.set_defaults(run=_plan)


def _add_search(commands: Any) -> None:
    """The options of ``labelsieve search``; the library checks what they may be, and has the defaults of most."""
    search = commands.add_parser(
        "search",
        help="find good parameters on labelled data",
        description="Rehearse the first round of a run on labelled data, for every combination of a grid of parameters "
        "and several seeds, and choose the combination that labels most within the tolerance: parameters of the "
        "classifier first, then those of the confidence function. With --cache, a search that was cut off goes on "
        "where it was.",
    )
    add = search.add_argument
    add("--data", type=Path, required=True, metavar="FILE", help="points: a .npy file, features or images")
    add(
        "--labels", type=Path, required=True, metavar="FILE", help="their true labels, a .npy file: they play the human"
    )
    add("--classifier", default="auto", metavar="NAME", help="see docs/methods.md (default: %(default)s)")
    add("--training", default="vanilla", metavar="NAME", help="train-time method (default: %(default)s)")
    add("--confidence", default="colander", metavar="NAME", help="confidence function (default: %(default)s)")
    add("--thresholds", default="paper", metavar="NAME", help="threshold rule (default: %(default)s)")
    add("--tolerance", type=float, default=0.05, metavar="E", help="share of wrong labels (default: %(default)s)")
    add("--train-budget", type=int, default=500, metavar="N", help="of the run to come (default: %(default)s)")
    add("--seed-size", type=int, metavar="N", help="labels in a first batch (default: 0.4 of the train budget)")
    add(
        "--validation-budget",
        type=int,
        default=500,
        metavar="N",
        help="points drawn from the data to calibrate and set thresholds (default: %(default)s)",
    )
    add(
        "--hyp-budget",
        type=int,
        default=500,
        metavar="N",
        help="points drawn from the data to measure error and coverage on (default: %(default)s)",
    )
    add("--seeds", type=int, default=5, metavar="N", help="first batches for each combination (default: %(default)s)")
    add("--grid", metavar="NAME|FILE", help="paper (the default), tiny-imagenet, extended, or a .toml file of your own")
    add("--cache", type=Path, metavar="DIR", help="keep every measurement here as soon as it is known")
    add("--chunk-size", type=int, default=16, metavar="N", help="fits done and kept together (default: %(default)s)")
    add("--executor", choices=("local", "ray"), default="local", help="where to compute (default: %(default)s)")
    add("--address", metavar="ADDR", help="a running Ray cluster (default: RAY_ADDRESS, else a local one is started)")
    add("--workers", type=int, metavar="N", help="with Ray: pieces of work at a time (default: all it has room for)")
    add("--gpus", type=float, default=0.0, metavar="G", help="with Ray: GPUs of each, 0.5 to share (default: none)")
    add("--threads", type=int, default=1, metavar="N", help="processor threads of each (default: %(default)s)")
    add("--device", default="auto", help="auto, cpu or cuda (default: %(default)s)")
    add("--seed", type=_seed, default=0, metavar="S", help="another seed draws other points (default: %(default)s)")
    add("--out", type=Path, metavar="FILE", help="also write everything measured to this JSON file")
    add("--json", action="store_true", help="print JSON in place of tables")
    search.set_defaults(run=_search)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 on; got {text!r}")
    return int(text)


def _note(  # the signature is the standard library's
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Warnings are for people here: what, without where in the code."""
    print(f"labelsieve: note: {message}", file=sys.stderr)
