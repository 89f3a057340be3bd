"""A pilot: a few points with their score and whether the prediction was right."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from os import PathLike

import numpy as np

from labelsieve.errors import DataError
from labelsieve.types import Bools, Floats

_FEWEST = 20
_SCORE_NAMES = ("score", "confidence")
_RIGHT, _WRONG = {"1", "1.0", "true", "yes", "right"}, {"0", "0.0", "false", "no", "wrong"}


@dataclass(frozen=True, eq=False)
class Pilot:
    """Held-out points of a first model: ``scores`` (higher: surer) and whether its prediction was ``correct``."""

    scores: Floats
    correct: Bools

    def __post_init__(self) -> None:
        scores, correct = np.asarray(self.scores, dtype=np.float64), np.asarray(self.correct)
        if scores.ndim != 1 or scores.shape != correct.shape:
            raise DataError(
                "A pilot's scores and correct must be one-dimensional and of one length; "
                f"got {scores.shape} and {correct.shape}."
            )
        if len(scores) < _FEWEST:
            raise DataError(
                f"A pilot needs at least {_FEWEST} points to say anything; got {len(scores)}. "
                "Label more, or plan with the pilot's accuracy alone."
            )
        if not np.isfinite(scores).all():
            raise DataError(f"A pilot's scores must be numbers; {int((~np.isfinite(scores)).sum())} are not.")
        if not np.isin(correct, (0, 1)).all():
            raise DataError("A pilot's correct must hold 1 (or True) for right and 0 (or False) for wrong.")
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "correct", correct.astype(bool))

    def __len__(self) -> int:
        return len(self.scores)


def read_pilot(path: str | PathLike[str]) -> Pilot:
    """A pilot from a CSV file with the columns ``score`` (or ``confidence``) and ``correct``; others are ignored."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            table = csv.DictReader(file)
            columns = {name.strip().lower(): name for name in table.fieldnames or ()}
            rows = list(table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"The pilot must be a CSV file with the columns score and correct; {path} cannot be read: {error}."
        ) from None
    score_name = next((columns[name] for name in _SCORE_NAMES if name in columns), None)
    if score_name is None or "correct" not in columns:
        raise DataError(
            f"The pilot must have a column 'score' (or 'confidence') and a column 'correct'; "
            f"{path} has {', '.join(map(repr, columns)) or 'none'}. Rename them, or name them in a first line."
        )
    scores = [_score(row[score_name], number) for number, row in enumerate(rows, start=1)]
    correct = [_is_right(row[columns["correct"]], number) for number, row in enumerate(rows, start=1)]
    return Pilot(np.array(scores), np.array(correct, dtype=bool))


def _score(text: str | None, row: int) -> float:
    try:
        score = float(text or "")
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(f"The pilot's score must be a number; got {text!r} in row {row}. Correct or drop the row.")
    return score


def _is_right(text: str | None, row: int) -> bool:
    answer = (text or "").strip().lower()
    if answer not in _RIGHT | _WRONG:
        raise DataError(
            f"The pilot's correct must be 1 or 0 (or true or false, yes or no); got {text!r} in row {row}. "
            "Correct or drop the row."
        )
    return answer in _RIGHT
