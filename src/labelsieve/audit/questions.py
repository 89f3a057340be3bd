"""Questions and answers as CSV files, for audits by people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from labelsieve.annotators.answer_files import for_spreadsheets, inert
from labelsieve.audit.folder import FolderAudit
from labelsieve.audit.labels import read_table
from labelsieve.errors import DataError
from labelsieve.types import Label
from labelsieve.writing import write_atomically

QUESTIONS_FILE = "audit-questions.csv"
ContentsOf = Callable[[Sequence[str]], Sequence[str]]
"""What the items with these ids are: their texts, or where their images lie."""


def ask_in_file(state: FolderAudit, batch_size: int, contents_of: ContentsOf | None = None) -> tuple[FolderAudit, int]:
    """Write the next questions; returns the audit, which remembers them, and their number (0: all have been asked).

    ``contents_of``: if it is known what is asked about, a column says so."""
    audit = state.audit
    path = state.folder / QUESTIONS_FILE
    _refuse_to_lose_answers(path, state)
    number = max(0, min(batch_size, state.max_labels - len(audit.answers)))
    if not number:
        return state, 0
    ids = audit.to_ask(number).tolist()
    reached = audit.order[: len(audit.answers) + number]
    places = {id_: place for place, id_ in enumerate(audit.labels.ids[reached].tolist())}
    machine = audit.labels.labels[reached]
    questions = pd.DataFrame({"id": ids, "machine_label": [machine[places[id_]] for id_ in ids], "answer": ""})
    if contents_of is not None:
        questions.insert(1, "content", [inert(content) for content in contents_of(ids)])
    state = replace(state, asked=max(state.asked, 1 + max(places[id_] for id_ in ids)))
    state.save()  # first, so that no answer can come for a question that is not known
    write_atomically({path: for_spreadsheets([*questions.columns], questions.astype(str).to_numpy().tolist())})
    return state, len(ids)


def take_answers(state: FolderAudit, path: Path) -> tuple[FolderAudit, int]:
    """The audit with the answers of a file in it, saved; and how many answers were for labels not drawn, left out."""
    labels = state.audit.labels
    given = [(id_, labels.spelled(answer)) for id_, answer in _read(path)]
    asked = set(labels.ids[state.audit.order[: state.asked]].tolist())
    unknown = {id_ for id_, _ in given} - set(labels.table["id"])
    if unknown:
        raise DataError(
            f"{path} must answer for ids of the label file; it names {len(unknown):,} that are not there, such as "
            f"{min(unknown)!r}. Nothing was taken from it; correct those ids."
        )
    answers = state.audit.answers.with_answers(given, labels.human, asked)
    grown = replace(state, audit=replace(state.audit, answers=answers))
    grown.save()
    not_asked = {id_ for id_, _ in given} - asked - labels.human.keys()
    return grown, len(not_asked)


def _read(path: Path) -> Iterable[tuple[str, Label]]:
    """Ids and answers; rows without an answer are still open."""
    if not path.is_file():
        raise DataError(f"Answers are read from a CSV file with the columns id and answer; there is no {path}.")
    table = read_table(path.read_bytes(), path)
    if not {"id", "answer"} <= set(table):
        raise DataError(
            f"{path} must have the columns id and answer; it has {', '.join(map(str, table))}. "
            f"Fill in the column answer of {QUESTIONS_FILE}."
        )
    answered = table[table["answer"].str.strip() != ""]
    return zip(answered["id"].tolist(), answered["answer"].tolist(), strict=True)


def _refuse_to_lose_answers(path: Path, state: FolderAudit) -> None:
    if not path.is_file():
        return
    unread = [id_ for id_, _ in _read(path) if id_ not in state.audit.answers.labels]
    if unread:
        raise DataError(
            f"{path} holds {len(unread):,} answers that have not been read yet, and would be replaced by the next "
            f"questions. Read them first: --answers {path}."
        )
