"""The three files of a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from labelsieve.engine.run import Run
from labelsieve.reports.page import page_html
from labelsieve.reports.record import record_json
from labelsieve.reports.summary import summarise

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
    _write_atomically({folder / name: text for name, text in texts.items()})
    return folder / "report.html"


def _write_atomically(texts: dict[Path, str]) -> None:
    """Readers see old files or new ones, never a part of one; if the disk is full, all old ones stay."""
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in texts}
    try:
        for path, text in texts.items():
            # Names from file systems may hold what UTF-8 cannot; it is spelled out rather than lost.
            temporary[path].write_bytes(text.encode("utf-8", errors="backslashreplace"))
        for path in texts:
            os.replace(temporary[path], path)
    finally:
        for part in temporary.values():
            part.unlink(missing_ok=True)
