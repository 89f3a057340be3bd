"""``labelsieve status``."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from labelsieve.annotators.agreement import Agreement
from labelsieve.project import Project


def status(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        found, agreement = project.status(), project.agreement()
    if arguments.json:
        print(json.dumps({**asdict(found), "coverage": found.coverage, "agreement": _for_programs(agreement)}))
        return 0
    print(f"items            {found.items:,}")
    print(f"labels of people {found.training_labels:,} to learn from, {found.validation_labels:,} to check with")
    print(f"machine labels   {found.machine_labels:,} ({found.coverage:.1%})")
    print(f"rounds           {found.rounds}")
    if agreement is not None:
        print(f"agreement        {agreement.in_words()}")
    print(found.next_step(str(arguments.folder)))
    return 0


def _for_programs(agreement: Agreement | None) -> dict[str, float | int | None] | None:
    if agreement is None:
        return None
    values = {name: found.value for name, found in agreement.coefficients.items()}
    return {"items": agreement.items, "share alike": agreement.agreement, **values}
