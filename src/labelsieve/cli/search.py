"""``labelsieve search``: parameters that label most, found on labelled data."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.annotators import SimulatedAnnotator
from labelsieve.cli.folders import writable_folder
from labelsieve.data.pool import as_pool
from labelsieve.engine.suited import classifier_suited_to
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.executors import Executor, LocalExecutor
from labelsieve.reports.wording import percent, plural
from labelsieve.search.phases import Phase
from labelsieve.search.progress import SearchBars, SearchLines
from labelsieve.search.result import SearchResult
from labelsieve.search.searching import search as find
from labelsieve.types import Array
from labelsieve.writing import utf8, write_atomically

_SHOWN = 5
_PLAIN_WIDTH = 120


def search(arguments: argparse.Namespace) -> int:
    """Search, and print the best few of each phase and the chosen parameters as Python."""
    if arguments.out is not None:
        _check_out(arguments.out)
    points, labels = _array(arguments.data, "--data"), _array(arguments.labels, "--labels")
    if len(points) != len(labels):
        raise DataError(f"--labels must have one label per point; got {len(points)} points and {len(labels)} labels.")
    pool = as_pool(points)
    chosen = arguments.classifier
    classifier = classifier_suited_to(pool, arguments.device) if chosen == "auto" else chosen
    # Ray reports lost workers on the output stream, which is for results alone.
    with _executor(arguments) as executor, redirect_stdout(sys.stderr):
        result = find(
            pool,
            SimulatedAnnotator(labels),
            tolerance=arguments.tolerance,
            train_budget=arguments.train_budget,
            seed_size=arguments.seed_size,
            validation_budget=arguments.validation_budget,
            hyp_budget=arguments.hyp_budget,
            classifier=classifier,
            training=arguments.training,
            confidence=arguments.confidence,
            thresholds=arguments.thresholds,
            seeds=arguments.seeds,
            grid=arguments.grid,
            cache=arguments.cache,
            chunk_size=arguments.chunk_size,
            executor=executor,
            random_state=arguments.seed,
            device=arguments.device,
            progress=SearchBars() if sys.stderr.isatty() else SearchLines(),
        )
    code = _as_python(arguments, classifier, result)
    record = json.dumps(result.to_dict() | {"python": code}, indent=2, allow_nan=False)
    if arguments.out is not None:
        write_atomically({arguments.out: utf8(record + "\n")})
    if arguments.json:
        print(record)
    else:
        _print(result, code, arguments.out)
    return 0


def _check_out(out: Path) -> None:
    """Before the search, and not after hours of it."""
    if out.is_dir():
        raise ConfigurationError(f"--out must name a file, but {out} is a folder. Write {out / 'found.json'}, say.")
    writable_folder(out.parent)


def _array(file: Path, option: str) -> Array:
    try:
        loaded = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"{option} must be a .npy file, as np.save writes it; {file} cannot be read: {reason}"
        ) from None
    if not isinstance(loaded, np.ndarray):
        raise DataError(f"{option} must hold one array, as np.save writes it; {file} holds several.")
    return loaded


def _executor(arguments: argparse.Namespace) -> Executor:
    if arguments.executor == "ray":
        from labelsieve.executors.ray import RayExecutor

        return RayExecutor(arguments.address, arguments.workers, arguments.threads, arguments.gpus)
    if arguments.address is not None or arguments.workers is not None or arguments.gpus:
        raise ConfigurationError("--address, --workers and --gpus are for --executor ray; the local one has none.")
    return LocalExecutor(arguments.threads)


def _as_python(arguments: argparse.Namespace, classifier: str, result: SearchResult) -> str:
    """The choice, ready to paste."""
    trained = ""
    if arguments.training != "vanilla":
        trained = f'.with_training(create("training", "{arguments.training}"))'
    numbers = ", ".join(
        f"{name}={getattr(arguments, name)}"
        for name in ("tolerance", "train_budget", "seed_size", "validation_budget")
        if getattr(arguments, name) is not None
    )
    return "\n".join(
        (
            "import labelsieve as ls",
            "from labelsieve.registry import create",
            "",
            f'classifier = create("classifier", "{classifier}"){trained}{_set(result.training_parameters)}',
            f'confidence = create("confidence", "{arguments.confidence}"){_set(result.confidence_parameters)}',
            f"run = ls.autolabel(pool, annotator, {numbers}, classifier=classifier, confidence=confidence)",
        )
    )


def _set(parameters: dict[str, Any]) -> str:
    inside = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return f".set_params({inside})" if parameters else ""


def _print(result: SearchResult, code: str, out: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PLAIN_WIDTH)
    for phase in (result.training, result.post_hoc):
        varied = _varied(phase)
        print(f"{phase.name}: {phase.choice.reason}")
        table = Table()
        for name in (*varied, "coverage", "error", ""):
            table.add_column(name, justify="right")
        rows = result.table.query(f"phase == {phase.name!r}")
        for _, row in rows.head(_SHOWN).iterrows():
            table.add_row(*(str(row[name]) for name in varied), *_cells(row))
        console.print(table)
        if len(rows) > _SHOWN:
            print(f"and {plural(len(rows) - _SHOWN, 'combination')} more")
        print()
    print(
        f"{plural(result.human_labels, 'label')} asked for, {plural(result.fits, 'fit')} done; means over "
        f"{plural(len(result.seeds), 'seed')}, ± one standard deviation. Measured on few points and the best of many: "
        "expect a little less."
    )
    # By plain print: a table would wrap it, and nobody could copy it.
    print(f"\n{code}")
    if out is not None:
        print(f"\nwrote {out}")


def _varied(phase: Phase) -> list[str]:
    """Parameters of which more than one value was tried."""
    return [name for name in phase.chosen if len({repr(one[name]) for one in phase.combinations}) > 1]


def _cells(row: Any) -> tuple[str, str, str]:
    if row["failed"]:
        return "", "", f"failed for {plural(int(row['failed']), 'seed')}"
    error = "nothing labelled" if np.isnan(row["error"]) else _with_spread(row["error"], row["error_std"])
    return _with_spread(row["coverage"], row["coverage_std"]), error, "chosen" if row["chosen"] else ""


def _with_spread(mean: float, spread: float) -> str:
    """With a plain space: a terminal without Unicode shows the other kind as a question mark."""
    shown = percent(mean).replace("\u00a0", " ")
    return shown if np.isnan(spread) else f"{shown} ± {100 * spread:.2g}"
