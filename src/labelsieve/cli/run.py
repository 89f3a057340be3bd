"""``labelsieve run``."""

from __future__ import annotations

import argparse

from labelsieve.cli.feature_bars import FeatureBars
from labelsieve.project import Project
from labelsieve.reports.belief import grounds
from labelsieve.reports.summary import summarise
from labelsieve.reports.wording import percent


def run(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        with FeatureBars() as bars:
            outcome = project.run(simulate=arguments.simulate, features_progress=bars.show)
        status = project.status()
        answers = "" if status.answers == status.labels_of_people else f" ({status.answers:,} answers)"
        print(
            f"{status.items:,} items · {status.labels_of_people:,} labelled by people{answers} · "
            f"{status.machine_labels:,} by machine ({status.coverage:.1%}) · {status.rounds} rounds"
        )
        if outcome.rehearsed is not None and outcome.rehearsed.of:
            wrong, of = outcome.rehearsed.wrong, outcome.rehearsed.of
            print(f"by the simulated labels, {wrong:,} of {of:,} machine labels are wrong ({percent(wrong / of)})")
        print(status.next_step(str(arguments.folder)))
        if outcome.needed is None:
            if not status.machine_labels:
                print(" ".join(grounds(summarise(outcome.run))))
            print(f"wrote {project.report()} (open this one)")
    return 0
