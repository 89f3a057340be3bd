"""Asking an annotator for the next labels of the audit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from labelsieve.annotators.base import Annotator
from labelsieve.audit.answers import Answers
from labelsieve.audit.labels import LabelSet
from labelsieve.errors import AnnotatorError, LabelError
from labelsieve.types import Array, Label, to_numpy


def ask(annotator: Annotator, ids: Array, labels: LabelSet, answers: Answers) -> Answers:
    """The answers so far and those for ``ids``.

    Raises ``AnnotatorError`` if one is missing or cannot be used; its ``ledger`` is the ``Answers`` up to there.
    """
    given: list[tuple[Any, Label]] = []
    wanted = ids.tolist()
    try:
        for id_, label in _pairs(annotator.label(ids), wanted, (labels.human, answers.labels)):
            given.append((id_, labels.spelled(label)))
    except Exception as failure:
        problem = str(failure) if isinstance(failure, (AnnotatorError, LabelError)) else repr(failure)
        if isinstance(failure, _WrongCountError):
            given.clear()  # nobody can tell which label belongs to which id
        kept = answers.with_answers(given, labels.human, wanted)
        raise AnnotatorError(
            f"The annotator must give one label for each of the {len(wanted)} ids asked for; after {len(given)}: "
            f"{problem} Correct the annotator, then continue with error.ledger.proceed(annotator).",
            kept,
        ) from failure
    return answers.with_answers(given, labels.human, wanted)


class _WrongCountError(AnnotatorError):
    """A list of another length than that of the ids."""


def _pairs(answer: Any, wanted: list[Any], known: tuple[Mapping[Any, Label], ...]) -> Iterator[tuple[Any, Any]]:
    """(id, label), one by one, so that what came before a failure is kept."""
    if isinstance(answer, Mapping):
        # A mapping may hold more than was asked for: what it says about known ids is compared with what is known.
        for earlier in known:
            yield from ((id_, answer[id_]) for id_ in earlier if id_ in answer)
        yield from ((id_, answer[id_]) for id_ in wanted if id_ in answer)
        missing = [id_ for id_ in wanted if id_ not in answer]
        if missing:
            raise AnnotatorError(f"there is no answer for id {missing[0]!r}.")
        return
    if isinstance(answer, (str, bytes, Set)) or not isinstance(answer, Iterable):
        raise AnnotatorError(f"expected a list of labels, or a mapping from id to label; got {answer!r}.")
    values = to_numpy(answer).tolist() if hasattr(answer, "detach") else answer
    count = 0
    for label in values:
        if count == len(wanted):
            raise _WrongCountError("more labels than ids came back.")
        yield wanted[count], label
        count += 1
    if count < len(wanted):
        raise _WrongCountError(f"only {count} labels came back.")
