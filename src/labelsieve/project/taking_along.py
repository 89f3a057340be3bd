"""What a new project takes over from an earlier one: people's answers, and features that were costly to compute."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from labelsieve.data.embeddings.record_cache import CACHE_FILES
from labelsieve.store.answers import Answer, Answers
from labelsieve.store.database import Database


class TakenAlong(NamedTuple):
    """Answers that were taken, and those that were not: about items, or with classes, that are not in the project."""

    taken: int
    of_other_items: int
    of_other_classes: int


def take_answers(earlier: Path, database: Database, classes: Collection[str]) -> TakenAlong:
    """Answers count for an item with the same id and the same content.

    What people said when they reviewed machine labels is left behind: they had a label before them when they said it.
    """
    taken, of_other_items, of_other_classes = [], 0, 0
    with Database(earlier) as source:
        for id_, content, label, annotator in source.read(
            "SELECT id, content, label, annotator FROM answers JOIN items USING (row) WHERE taken_back IS NULL "
            "ORDER BY number"
        ):
            same = database.read("SELECT row FROM items WHERE id = ? AND content = ?", (id_, content)).fetchone()
            if same is None:
                of_other_items += 1
            elif label not in classes:
                of_other_classes += 1
            else:
                taken.append(Answer(same[0], label, annotator))
    Answers(database).add(taken)
    return TakenAlong(len(taken), of_other_items, of_other_classes)


def take_features(earlier: Path, folder: Path) -> None:
    """Those that are kept by item; a file that is being written to meanwhile is cut to what was whole when opened."""
    for file in earlier.glob(CACHE_FILES):
        shutil.copy(file, folder)
