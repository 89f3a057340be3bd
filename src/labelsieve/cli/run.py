"""``labelsieve run``."""

from __future__ import annotations

import argparse

from labelsieve.cli.feature_bars import FeatureBars
from labelsieve.project import Project


def run(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        with FeatureBars() as bars:
            outcome = project.run(simulate=arguments.simulate, features_progress=bars.show)
        status = project.status()
        print(
            f"{status.items:,} items · {status.training_labels + status.validation_labels:,} labelled by people · "
            f"{status.machine_labels:,} by machine ({status.coverage:.1%}) · {status.rounds} rounds"
        )
        print(status.next_step(str(arguments.folder)))
        if outcome.needed is None:
            print(f"wrote {project.report()} (open this one)")
    return 0
