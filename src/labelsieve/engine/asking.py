"""Asking an annotator, and keeping every usable answer whatever happens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from labelsieve.annotators.base import Annotator, annotator_name
from labelsieve.data.classes import ClassCodes
from labelsieve.engine.entries import Answered, ClassesNamed
from labelsieve.engine.ledger import Ledger
from labelsieve.errors import AnnotatorError, LabelError
from labelsieve.types import Array, Ints, to_numpy


def ask(annotator: Annotator, ids: Array, points: Ints, codes: ClassCodes, ledger: Ledger) -> None:
    """Ask about ``points`` (named ``ids``) and write the answers into the ledger.

    Raises ``AnnotatorError`` if anything is missing afterwards; the usable answers are in the ledger by then.
    """
    answers, failure = _answers(annotator, ids)
    if failure is None and len(answers) != len(ids):
        count = f"more than {len(ids)}" if len(answers) > len(ids) else str(len(answers))
        raise AnnotatorError(
            f"The annotator must give one label per id; {len(ids)} were asked for and {count} came back, so none of "
            "them can be told apart. Correct the annotator, then continue with ledger=error.ledger.",
            ledger,
        )
    usable, unusable = _record(answers[: len(ids)], points, annotator_name(annotator), codes, ledger)
    if failure is not None and not isinstance(failure, Exception):
        raise failure
    if failure is not None:
        raise AnnotatorError(
            f"The annotator raised {type(failure).__name__}: {failure} — {usable} of the last {len(ids)} labels asked "
            "for had come by then. Every answer that came is in the ledger; continue with ledger=error.ledger.",
            ledger,
        ) from failure
    if unusable:
        position, problem = unusable[0]
        others = f" {len(unusable) - 1} more answers cannot be used either." if len(unusable) > 1 else ""
        raise AnnotatorError(
            f"The annotator's answer for id {ids[position].item()!r} cannot be used: {problem}{others} "
            f"The other {usable} are in the ledger; continue with ledger=error.ledger.",
            ledger,
        ) from problem


def _answers(annotator: Annotator, ids: Array) -> tuple[list[Any], BaseException | None]:
    """What came back, at most one more than asked for; and the exception that ended it, if one did."""
    answers: list[Any] = []
    try:
        for label in _in_order(annotator.label(ids), ids):
            answers.append(label)
            if len(answers) > len(ids):
                break
    except BaseException as failure:  # from the keyboard, too: what was answered before is kept
        return answers, failure
    return answers, None


def _in_order(answer: Any, ids: Array) -> Iterable[Any]:
    """One label per id, in the order of the ids; a mapping is looked up by id."""
    if isinstance(answer, Mapping):
        return [answer.get(id_) for id_ in ids.tolist()]
    if isinstance(answer, (str, bytes, Set)) or not isinstance(answer, Iterable):
        raise TypeError(f"expected a list of {len(ids)} labels, or a mapping from id to label; got {answer!r}")
    return to_numpy(answer).tolist() if hasattr(answer, "detach") else answer


def _record(
    answers: list[Any], points: Ints, annotator: str, codes: ClassCodes, ledger: Ledger
) -> tuple[int, list[tuple[int, LabelError]]]:
    """Write down the usable answers; returns how many there are, and position and problem of the others."""
    known = len(codes.names)
    labels = np.full(len(answers), -1, dtype=np.int64)
    unusable: list[tuple[int, LabelError]] = []
    for position, label in enumerate(answers):
        try:
            labels[position] = codes.code(label)
        except LabelError as problem:
            unusable.append((position, problem))
    good = labels >= 0
    if len(codes.names) > known:
        ledger.append(ClassesNamed(tuple(codes.names[known:])))
    if good.any():
        ledger.append(Answered(points[: len(answers)][good], labels[good], annotator))
    return int(good.sum()), unusable
