"""``labelsieve demo``: a rehearsal on handwritten digits, whose labels play the human."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from labelsieve.annotators import SimulatedAnnotator
from labelsieve.audit.leftovers import forget_audit
from labelsieve.cli.folders import writable_folder
from labelsieve.engine.autolabel import autolabel
from labelsieve.engine.progress import PlainLines
from labelsieve.errors import LabelsieveError
from labelsieve.reports import belief
from labelsieve.reports.files import write_report
from labelsieve.reports.summary import Summary, summarise
from labelsieve.reports.wording import percent

TRAIN_BUDGET = 200
VALIDATION_BUDGET = 400
TOLERANCE = 0.05
_CLASSES = 10


def demo(out: Path, seed: int) -> int:
    """Run, print a table of what came out, and write the report."""
    writable_folder(out)
    points, truth = load_digits(return_X_y=True)
    print(
        f"Labelling {len(points):,} handwritten digits of scikit-learn, {_CLASSES} classes, tolerance "
        f"{_share(TOLERANCE)}.\n"
        f"Up to {TRAIN_BUDGET} labels to train and {VALIDATION_BUDGET} to check, answered from the true labels.",
        flush=True,
    )
    started = time.perf_counter()
    run = autolabel(
        points,
        SimulatedAnnotator(truth),
        classes=_CLASSES,
        tolerance=TOLERANCE,
        train_budget=TRAIN_BUDGET,
        validation_budget=VALIDATION_BUDGET,
        random_state=seed,
        progress=True if sys.stderr.isatty() else PlainLines(),
    )
    seconds = time.perf_counter() - started
    try:
        page = write_report(run, out, y_true=truth, title="labelsieve demo: handwritten digits")
        forget_audit(out)  # it was about the labels of an earlier demo
        pd.DataFrame({"id": run.pool_ids, "label": truth}).to_csv(out / "truth.csv", index=False)
    except OSError as error:
        raise LabelsieveError(f"The report could not be written to {out}: {error.strerror or error}.") from None
    Console().print(_outcome(summarise(run, truth), belief.promise(run)[0], seconds))
    # Paths go out by plain print: the table would wrap a long one, and nobody could copy it.
    for name in ("labels.csv", "run.json"):
        print(f"wrote {page.with_name(name)}")
    print(f"wrote {page.with_name('truth.csv')}")
    print(f"wrote {page} (open this one)")
    print(f"To check the machine labels: labelsieve audit {out} --simulate {out / 'truth.csv'}:label")
    return 0


def _outcome(summary: Summary, promise: str, seconds: float) -> Table:
    table = Table(show_header=False, title="What came out", title_justify="left")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("coverage", f"{_share(summary.coverage)} of the pool labelled by machine")
    table.add_row("machine labels", f"{summary.machine:,} of {summary.pool_size:,} points")
    purposes = ", ".join(f"{n:,} {purpose}" for purpose, n in summary.human_by_purpose.items())
    table.add_row("human labels used", f"{summary.human:,} ({purposes}); {summary.left:,} points left without a label")
    table.add_row("error", _error(summary))
    table.add_row("tolerance", f"{_share(summary.tolerance)}")
    table.add_row("believe it?", promise)
    table.add_row("time", f"{seconds:.1f} s")
    return table


def _error(summary: Summary) -> str:
    if summary.truth is None or summary.truth.share is None:
        return "no machine labels, so no error"
    return (
        f"{_share(summary.truth.share)} ({summary.truth.wrong:,} of {summary.truth.of:,} wrong) against the truth "
        "(known here because this is a rehearsal)"
    )


def _share(share: float) -> str:
    """With a plain space: a terminal without Unicode shows the other kind as a question mark."""
    return percent(share).replace("\u00a0", " ")
