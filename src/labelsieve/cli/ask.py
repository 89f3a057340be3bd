"""``labelsieve ask``."""

from __future__ import annotations

import argparse
from pathlib import Path

from labelsieve.annotators.answer_files import read_answers, write_questions
from labelsieve.errors import DataError
from labelsieve.project import Project


def ask(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        questions = project.questions()[["id", "content"]].head(arguments.limit)
        if not len(questions):
            print(project.status().next_step(str(arguments.folder)))
            return 0
        _refuse_to_lose_answers(arguments.out, project, set(questions["id"]))
        write_questions(arguments.out, questions, project.config.classes)
    print(f"wrote {len(questions):,} questions to {arguments.out}")
    print(f"Fill in its column label, then: labelsieve answer {arguments.folder} {arguments.out}")
    return 0


def _refuse_to_lose_answers(path: Path, project: Project, waiting: set[str]) -> None:
    """A file that somebody is filling in must not be written over."""
    if not path.exists():
        return
    try:
        found = read_answers(path, project.config.classes, project.asked_ids(), "file", partial=True).answers
    except DataError:
        raise DataError(f"{path} is there already and holds something else. Choose another name.") from None
    unread = [answer for answer in found if str(answer.id) in waiting]
    if unread:
        raise DataError(
            f"{path} is there and holds {len(unread):,} answers that the project does not have. Read them first "
            f"(labelsieve answer {project.folder} {path}), or choose another name."
        )
