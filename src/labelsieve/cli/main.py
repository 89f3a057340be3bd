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
from typing import TextIO

from labelsieve import __version__
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
            status = _run(arguments)
            sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("labelsieve: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has left; Python must not complain about it when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_GONE
    except (LabelsieveError, OSError) as error:
        print(f"labelsieve: error: {error}", file=sys.stderr)
        return _FAILED


def _run(arguments: argparse.Namespace) -> int:
    from labelsieve.cli.demo import demo

    return demo(arguments.out, arguments.seed)


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
    return parser


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
