"""``labelsieve audit``: check machine labels at random, and certify the rest."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from labelsieve.audit import wording
from labelsieve.audit.folder import FolderAudit, open_folder
from labelsieve.audit.labels import LABELS_FILE, read_table
from labelsieve.audit.plan import BATCH_SIZE, check_count
from labelsieve.audit.questions import QUESTIONS_FILE, ask_in_file, take_answers
from labelsieve.audit.session import Audit
from labelsieve.audit.verify import verify
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array

if TYPE_CHECKING:
    from labelsieve.project import Project

_CERTIFIED, _NOT_CERTIFIED = 0, 1
_MOST_NOTES = 5


def audit(arguments: argparse.Namespace) -> int:
    """Go on with the audit of a folder as far as the answers reach, or check a certificate."""
    if arguments.verify is not None:
        return _verify(arguments.verify)
    if arguments.folder is None:
        raise ConfigurationError("audit needs the output folder of a run, or --verify with a certificate; got neither.")
    batch = BATCH_SIZE if arguments.batch is None else arguments.batch
    check_count("--batch", batch, least=1)
    state = open_folder(
        _output_folder(arguments.folder),
        max_labels=arguments.max_labels,
        tolerance=arguments.tolerance,
        delta=arguments.delta,
        seed=arguments.seed,
        slices=arguments.slices,
    )
    if arguments.simulate is not None:
        answering = _simulated(arguments.simulate)
        state = replace(state, audit=state.audit.proceed(answering, max_labels=state.max_labels, batch_size=batch))
        state = replace(state, asked=max(state.asked, len(state.audit.answers)))
        state.save()
    elif arguments.answers is not None:
        state, not_asked = take_answers(state, arguments.answers)
        if not_asked:
            _note(f"{not_asked:,} answers are for labels that were not drawn; they are no random sample and left out.")
    return _report(state, arguments, batch)


def _output_folder(folder: Path) -> Path:
    """Where the labels are: of a project, in its report."""
    from labelsieve.project.project import REPORT_FOLDER

    of_report = folder / REPORT_FOLDER
    return of_report if (of_report / LABELS_FILE).is_file() and not (folder / LABELS_FILE).is_file() else folder


def _report(state: FolderAudit, arguments: argparse.Namespace, batch: int) -> int:
    current = state.audit
    plan = current.plan
    print(
        f"Audit of {state.folder}: {plan.total:,} machine labels, tolerance {wording.percent(plan.tolerance)}, "
        f"confidence {wording.percent(1 - plan.delta)}."
    )
    _notes(current)
    if current.answers:
        print(wording.found(current))
    if arguments.simulate is not None:
        print(f"A rehearsal: the answers come from {arguments.simulate}, not from people.")
    part = current.rollback if arguments.rollback else None
    if current.certified or part:
        print(f"Certified. {wording.promise(current, rollback=part is not None)}")
        if part:
            print(f"{len(current.rolled_back()):,} machine labels were taken back and have no label now.")
    else:
        print("Not certified.")
        if current.answers:
            print(wording.outlook(current))
        print("This speaks neither for nor against what the run has promised: an audit begins from nothing.")
        if current.rollback:
            print(
                f"A part can be certified now: --rollback takes back {len(current.rolled_back()):,} of the "
                f"{current.verdict.remaining:,} machine labels that remain, and certifies the others."
            )
        elif arguments.rollback:
            print("Nothing can be rolled back to what would pass: no part could be certified.")
    if current.answers:
        for path in state.write(rollback=arguments.rollback):
            print(f"wrote {path}")
    if current.certified or part:
        return _CERTIFIED
    if arguments.simulate is None:
        _ask(state, batch, arguments.folder)
    return _NOT_CERTIFIED


def _ask(state: FolderAudit, batch: int, folder: Path) -> None:
    with _project_of(folder) as project:
        state, number = ask_in_file(state, batch, None if project is None else project.contents)
    if not number:
        print(f"All {state.max_labels:,} labels of this audit are used. To ask for more: --max-labels.")
        return
    path = state.folder / QUESTIONS_FILE
    print(f"wrote {path}")
    print(f"Fill in its column answer ({number:,} to do), then: labelsieve audit {state.folder} --answers {path}")


def _project_of(folder: Path) -> AbstractContextManager[Project | None]:
    """The project whose report is audited, which knows what its items are; None for other folders."""
    from labelsieve.project import Project
    from labelsieve.project.making import CONFIG_FILE
    from labelsieve.project.project import REPORT_FOLDER

    report = _output_folder(folder).absolute()
    is_of_project = report.name == REPORT_FOLDER and (report.parent / CONFIG_FILE).is_file()
    return Project(report.parent) if is_of_project else nullcontext()


def _simulated(text: str) -> Callable[[Array], dict[str, str]]:
    """An annotator that answers from a column of a CSV file."""
    path, column = Path(text), "label"
    if not path.is_file() and ":" in text:
        name, _, column = text.rpartition(":")
        path = Path(name)
    if not path.is_file():
        raise DataError(f"--simulate needs a CSV file with the truth, as FILE or FILE:COLUMN; there is no {path}.")
    table = read_table(path.read_bytes(), path)
    missing = [name for name in ("id", column) if name not in table]
    if missing:
        raise DataError(
            f"{path} must have the columns id and {column}; it has {', '.join(map(str, table))}. The column with the "
            "truth may be named, as in FILE:COLUMN; that with the names of the items must be called id."
        )
    truth = dict(zip(table["id"].tolist(), table[column].tolist(), strict=True))
    return lambda _: truth


def _notes(current: Audit) -> None:
    contradictions = current.answers.contradictions
    for found in contradictions[:_MOST_NOTES]:
        _note(
            f"two answers for id {found.id!r}: {found.kept!r} (from the {found.known_from}, kept) "
            f"and {found.refused!r}."
        )
    if len(contradictions) > _MOST_NOTES:
        _note(f"{len(contradictions) - _MOST_NOTES:,} more contradictions are listed in audit.json.")
    if current.new_classes:
        shown = ", ".join(map(repr, current.new_classes[:_MOST_NOTES]))
        _note(f"some answers name a class that no label of the run has: {shown}. They count as they are.")


def _note(text: str) -> None:
    print(f"labelsieve: note: {text}", file=sys.stderr)


def _verify(path: Path) -> int:
    problems = verify(path)
    for problem in problems:
        print(f"labelsieve: {problem}", file=sys.stderr)
    if problems:
        print(f"labelsieve: {path} does not hold.", file=sys.stderr)
        return _NOT_CERTIFIED
    print(f"{path} holds: the label files are those it was issued for, and its numbers follow from them.")
    return _CERTIFIED
