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
        is_over = found.stop_reason is not None and not found.waiting
        why_none = _why_nothing_was_labelled(project) if is_over and not found.machine_labels else []
    if arguments.json:
        print(json.dumps({**asdict(found), "coverage": found.coverage, "agreement": _for_programs(agreement)}))
        return 0
    print(f"items            {found.items:,}")
    answers = "" if found.answers == found.labels_of_people else f" ({found.answers:,} answers)"
    print(
        f"labels of people {found.training_labels:,} to learn from, {found.validation_labels:,} to check with{answers}"
    )
    print(f"machine labels   {found.machine_labels:,} ({found.coverage:.1%})")
    print(f"rounds           {found.rounds}")
    if agreement is not None:
        print(f"agreement        {agreement.in_words()}")
    print(found.next_step(str(arguments.folder)))
    if why_none:
        print(" ".join(why_none))
    return 0


def _why_nothing_was_labelled(project: Project) -> list[str]:
    from labelsieve.reports.belief import grounds  # seldom needed, and slow to import
    from labelsieve.reports.summary import summarise

    return grounds(summarise(project.so_far()))


def _for_programs(agreement: Agreement | None) -> dict[str, float | int | None] | None:
    if agreement is None:
        return None
    values = {name: found.value for name, found in agreement.coefficients.items()}
    return {"items": agreement.items, "share alike": agreement.agreement, **values}
