"""``labelsieve answer``."""

from __future__ import annotations

import argparse

from labelsieve.annotators.answer_files import read_answers
from labelsieve.errors import ConfigurationError
from labelsieve.project import Project


def answer(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        if arguments.annotator is None and project.config.people.overlap > 1:
            raise ConfigurationError("Several people label each item here: say who answered, with --annotator NAME.")
        found = read_answers(
            arguments.file,
            project.config.classes,
            project.asked_ids(),
            arguments.annotator or "file",
            labelled_ids=project.labelled_ids(),
        )
        kept = project.answer(found.answers)
        print(f"kept {kept.in_words()}")
        print(project.status().next_step(str(arguments.folder)))
    return 0
