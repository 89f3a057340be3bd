"""The three files of a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from labelsieve.engine.run import Run
from labelsieve.reports.page import page_html
from labelsieve.reports.record import record_json
from labelsieve.reports.summary import summarise
from labelsieve.writing import utf8, write_atomically

_DEFAULT_TITLE = "Labelling report"


def write_report(run: Run, out: str | os.PathLike[str], *, y_true: Any = None, title: str | None = None) -> Path:
    """Write ``labels.csv``, ``run.json`` and ``report.html`` into the folder ``out``; returns the page's path.

    y_true: the truth, if it is known, as in ``run.evaluate``; without it the page shows an estimate and says so.
    Files of those names are replaced. The page needs no other file and no network.
    """
    title = title or _DEFAULT_TITLE
    summary = summarise(run, y_true)
    # All texts are made before the folder is touched, so a mistake in the arguments leaves nothing behind.
    texts = {
        "labels.csv": run.labels.to_csv(index=False, lineterminator="\n"),
        "run.json": record_json(run, summary, title),
        "report.html": page_html(run, summary, title),
    }
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically({folder / name: utf8(text) for name, text in texts.items()})
    return folder / "report.html"
