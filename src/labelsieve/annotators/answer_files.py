"""Questions and answers in CSV files that a person fills in, in a spreadsheet or an editor."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Answer, Label
from labelsieve.writing import utf8, write_atomically

_NEEDED = ("id", "label")
_DELIMITERS = ",;\t"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BEGINS_FORMULA = tuple("=+-@\t\r")
_SHOWN = 50


class Problem(NamedTuple):
    """What is wrong, and in which line of the file."""

    line: int
    message: str


@dataclass(frozen=True)
class AnswerFile:
    """What a file holds: ``answers``, how many rows are still ``blank``, and, if read in part, its ``problems``."""

    answers: tuple[Answer, ...]
    blank: int
    problems: tuple[Problem, ...] = ()


def write_questions(
    path: Path, questions: pd.DataFrame, classes: Sequence[Label], *, annotator: str | None = None
) -> None:
    """Write the columns id, content and label, the last to be filled in; ``annotator`` adds a column with that name.

    Ids are exact. A content that a spreadsheet would take for a formula gets an apostrophe before it, which is how one
    types it there; contents are not read back.
    """
    _classes_by_text(classes)
    rest = [""] if annotator is None else ["", annotator]
    header = ["id", "content", "label", *(["annotator"] if annotator is not None else [])]
    rows = (
        [str(id_), inert("" if pd.isna(content) else str(content)), *rest]
        for id_, content in zip(questions["id"], questions["content"], strict=True)
    )
    write_atomically({path: for_spreadsheets(header, rows)})


def for_spreadsheets(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """A CSV file as spreadsheets like it: the byte order mark tells them that this is UTF-8. With lines that end as
    theirs do, any line end within a cell is quoted."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    writer.writerows(rows)
    return _BYTE_ORDER_MARK + utf8(text.getvalue())


def read_answers(
    path: Path,
    classes: Sequence[Label],
    known_ids: Iterable[Any],
    default_annotator: str,
    *,
    labelled_ids: Iterable[Any] = (),
    partial: bool = False,
) -> AnswerFile:
    """The answers in a file. If anything is wrong with it, all problems are raised together and nothing is taken.

    ``known_ids``: those that are asked about; ``labelled_ids``: those that were, and have their label. ``partial``:
    what is right is taken, and the problems told beside it; of two answers that contradict each other neither is taken.
    A file without the columns it needs is refused in any case.
    """
    rows, problems = _rows(path)
    known, labelled = {str(id_): id_ for id_ in known_ids}, set(map(str, labelled_ids))
    reader = _Reader(_classes_by_text(classes), known, labelled, default_annotator)
    for line, row in rows:
        reader.read(line, row)
    problems = sorted(problems + reader.problems)
    if problems and not partial:
        lines = [f"line {line}: {message}" for line, message in problems[:_SHOWN]]
        more = [f"and {len(problems) - _SHOWN:,} more"] if len(problems) > _SHOWN else []
        head = f"{path} has {len(problems):,} problem{'s' * (len(problems) > 1)}; nothing was taken from it:"
        raise DataError("\n  ".join([head, *lines, *more]))
    return AnswerFile(reader.answers(), reader.blank, tuple(problems))


class _Reader:
    """Collects answers and problems, row by row."""

    def __init__(
        self, classes: dict[str, Label], ids: dict[str, Any], labelled: set[str], default_annotator: str
    ) -> None:
        self.problems: list[Problem] = []
        self.blank = 0
        self._classes, self._ids, self._labelled, self._default_annotator = classes, ids, labelled, default_annotator
        self._given: dict[tuple[str, str], tuple[int, Label]] = {}
        self._contradicted: set[tuple[str, str]] = set()
        self._without_zeros: dict[str, str] | None = None

    def read(self, line: int, row: dict[str, str]) -> None:
        text = row["label"].strip()
        if not text:
            self.blank += 1
            return
        id_ = row["id"] if row["id"] in self._ids else row["id"].strip()
        wrong = [] if id_ in self._ids else [self._not_asked(id_)]
        label = self._class(text)
        if label is None:
            wrong.append(unknown_class(text, list(self._classes)))
        self.problems.extend(Problem(line, message) for message in wrong)
        if label is None or wrong:
            return
        annotator = row.get("annotator", "").strip() or self._default_annotator
        first_line, first = self._given.setdefault((id_, annotator), (line, label))
        if first != label:
            self._contradicted.add((id_, annotator))
            self.problems.append(
                Problem(line, f"{annotator} labels the id {id_!r} as {label!r}, but as {first!r} in line {first_line}")
            )

    def answers(self) -> tuple[Answer, ...]:
        return tuple(
            Answer(self._ids[id_], label, annotator)
            for (id_, annotator), (_, label) in self._given.items()
            if (id_, annotator) not in self._contradicted
        )

    def _class(self, text: str) -> Label | None:
        """The class spelled so. A spreadsheet may write the class 3 as 3.0."""
        whole = self._classes.get(text.removesuffix(".0"))
        return self._classes.get(text, whole if isinstance(whole, int) else None)

    def _not_asked(self, id_: str) -> str:
        if id_ in self._labelled:
            return f"the id {id_!r} has its label already, its batch is over; take the line out"
        if self._without_zeros is None:
            self._without_zeros = {known.lstrip("0"): known for known in (*self._labelled, *self._ids)}
        likely = self._without_zeros.get(id_.lstrip("0"))
        hint = f"; {likely!r} was: a spreadsheet may have dropped its zeros" if likely else ""
        return f"the id {id_!r} was never asked{hint}"


def _rows(path: Path) -> tuple[Iterator[tuple[int, dict[str, str]]], list[Problem]]:
    """Rows by column name with the line each begins in; the list is filled with lines that are broken, meanwhile."""
    content = path.read_bytes()
    if content.startswith(_UTF_16):
        raise DataError(f"{path} must be in UTF-8; it is in UTF-16. Save it as “CSV UTF-8”.")
    # What is not UTF-8 becomes lone surrogates, so that the lines it stands in can be named.
    text = content.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", errors="surrogateescape")
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    problems: list[Problem] = []
    lines = _lines(text, problems)
    _, header = next(lines, (1, []))
    names = [name.strip().casefold() for name in header]
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise DataError(
            f"{path} must have the columns id and label, with a header in its first line; {' and '.join(missing)} "
            f"is missing. It has: {_readable(', '.join(header)) or 'nothing'}."
        )
    repeated = [name for name in (*_NEEDED, "annotator") if names.count(name) > 1]
    if repeated:
        raise DataError(f"{path} must have one column {repeated[0]}; it has {names.count(repeated[0])}.")
    return _by_name(lines, names, problems), problems


def _by_name(
    lines: Iterable[tuple[int, list[str]]], names: list[str], problems: list[Problem]
) -> Iterator[tuple[int, dict[str, str]]]:
    for line, cells in lines:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            problems.append(Problem(line, f"has {len(cells)} cells, where the header has {len(names)}"))
        elif _readable("".join(cells)) != "".join(cells):
            problems.append(Problem(line, "is not in UTF-8; save the file as “CSV UTF-8”"))
        else:
            yield line, dict(zip(names, cells, strict=True))


def _lines(text: str, problems: list[Problem]) -> Iterator[tuple[int, list[str]]]:
    first = text[: min((text.find(end) for end in "\r\n" if end in text), default=len(text))]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(Problem(line, f"is no line of a CSV file: {error}; are its quotes closed?"))


def _readable(text: str) -> str:
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def inert(content: str) -> str:
    """A content that no spreadsheet takes for a formula."""
    return f"'{content}" if content.startswith(_BEGINS_FORMULA) else content


def _classes_by_text(classes: Sequence[Label]) -> dict[str, Label]:
    by_text = {str(name).strip(): name for name in classes}
    if len(by_text) != len(classes) or "" in by_text:
        raise ConfigurationError(
            f"Classes that are written into files must differ in more than blanks, and none be blank; got {classes!r}."
        )
    return by_text


def unknown_class(text: str, known: list[str]) -> str:
    """That a text is no class, which it is close to, and which there are."""
    folded = {name.casefold(): name for name in known}
    nearest = get_close_matches(text.casefold(), folded, n=1)
    classes = f"the classes are {', '.join(known[:20])}{', …' if len(known) > 20 else ''}"
    hint = f" (did you mean {folded[nearest[0]]!r}?)" if nearest else ""
    return f"{text!r} is no class{hint}; {classes}"
