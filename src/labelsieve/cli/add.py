"""``labelsieve add``."""

from __future__ import annotations

import argparse

from labelsieve.cli.init import show
from labelsieve.project import Project
from labelsieve.project.adding import add_items, understood_as_more


def add(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        show(understood_as_more(project, arguments.data))
        added = add_items(project, arguments.data)
        print(f"added {added.new:,} items; {added.known:,} were there already; {len(project.items):,} in all")
        print(project.status().next_step(str(arguments.folder)))
    return 0
