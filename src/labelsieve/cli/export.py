"""``labelsieve export``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pandas as pd

from labelsieve.errors import ProjectError
from labelsieve.exports import format_for, write_export
from labelsieve.project import Project


def export(arguments: argparse.Namespace) -> int:
    format = format_for(arguments.out, arguments.format)
    with Project(arguments.folder) as project:
        if not arguments.all:
            _refuse_if_nothing_is_labelled(project, str(arguments.folder))
        content = arguments.content or format == "label-studio"
        tables = project.labels(everything=arguments.all, content=content)
        wanted = _wanted(tables, arguments.only, arguments.min_confidence)
        config = project.config
        n = write_export(wanted, arguments.out, format, classes=config.classes, kind=config.data.kind)
    print(f"wrote {n:,} rows to {arguments.out}")
    return 0


def _refuse_if_nothing_is_labelled(project: Project, folder: str) -> None:
    """A choice among labels may well be empty; a project without any is one to go on with."""
    status = project.status()
    if status.left == status.items:
        raise ProjectError(
            f"An export needs labels; nothing in {folder} is labelled yet, and no file was written. "
            f"{status.next_step(folder)} (With --all, items without a label are exported, too.)"
        )


def _wanted(tables: Iterator[pd.DataFrame], source: str | None, least: float | None) -> Iterator[pd.DataFrame]:
    for table in tables:
        keep = pd.Series(True, index=table.index)
        if source is not None:
            keep &= table["source"] == source
        if least is not None:
            keep &= (table["source"] != "machine") | (table["confidence"] >= least)
        yield table[keep]
