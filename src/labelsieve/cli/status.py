"""``labelsieve status``."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from labelsieve.project import Project


def status(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        found, agreement = project.status(), project.agreement()
    if arguments.json:
        print(json.dumps({**asdict(found), "coverage": found.coverage}))
        return 0
    print(f"items            {found.items:,}")
    print(f"labels of people {found.training_labels:,} to learn from, {found.validation_labels:,} to check with")
    print(f"machine labels   {found.machine_labels:,} ({found.coverage:.1%})")
    print(f"rounds           {found.rounds}")
    if agreement is not None and agreement.agreement is not None:
        alpha = agreement.alpha.value
        beyond = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
        print(f"agreement        {agreement.agreement:.0%} of pairs of answers agree{beyond}")
    print(found.next_step(str(arguments.folder)))
    return 0
