"""``labelsieve report``."""

from __future__ import annotations

import argparse

from labelsieve.project import Project


def report(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        print(f"wrote {project.report()} (open this one)")
    return 0
