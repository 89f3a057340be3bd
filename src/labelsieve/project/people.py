"""People as an annotator: their answers are in the project's file, or they are still needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from labelsieve.annotators.agreement import majority
from labelsieve.annotators.answer_files import unknown_class
from labelsieve.data.readers.cells import is_empty
from labelsieve.errors import DataError, HumansNeeded
from labelsieve.store.answers import Answer, Answers
from labelsieve.store.items import Items
from labelsieve.types import Array

if TYPE_CHECKING:
    from labelsieve.engine.run import Run
    from labelsieve.reports.summary import Wrong

SIMULATED = "simulated"
_EXPECTED = "The column to simulate from must hold one of the classes for every item"


class People:
    """Gives the label most people gave, once enough have answered for all items that are asked about."""

    name = "people"

    def __init__(self, items: Items, answers: Answers, overlap: int) -> None:
        self._items = items
        self._answers = answers
        self._overlap = overlap

    def label(self, ids: Array) -> list[str]:
        rows = [row for id_ in ids.tolist() if (row := self._items.row_of(str(id_))) is not None]
        decided = self._answers.use(rows, lambda answers: decisions(answers, self._overlap))
        if decided is None:
            known = decisions(self._answers.table(), self._overlap)
            raise HumansNeeded(sum(row not in known for row in rows))
        return [decided[row] for row in rows]


class Rehearsal(People):
    """Answers from labels that are already there, as people would: each answer is in the file before it counts.

    ``remedy``: what can be done about labels that are no classes, where they stand and where the classes do.
    """

    def __init__(
        self, items: Items, answers: Answers, truth: Mapping[str, str], classes: Sequence[str], remedy: str
    ) -> None:
        super().__init__(items, answers, overlap=1)
        self.truth = truth
        self._classes = set(classes)
        self._remedy = remedy
        self._refuse_other_labels(list(classes))  # now: making features may take hours

    def label(self, ids: Array) -> list[str]:
        wanted = [str(id_) for id_ in ids.tolist()]
        for id_ in wanted:
            if self.truth.get(id_) not in self._classes:
                raise DataError(f"{_EXPECTED}; for {id_!r} it holds none. {self._remedy}")
        known = set(self._answers.table()["row"])
        rows = {id_: self._items.row_of(id_) for id_ in wanted}
        self._answers.add(
            Answer(row, self.truth[id_], SIMULATED) for id_, row in rows.items() if row is not None and row not in known
        )
        return super().label(ids)

    def _refuse_other_labels(self, classes: list[str]) -> None:
        """Some items may be without a label, as long as they are not asked about."""
        counts = Counter(label for label in self.truth.values() if not is_empty(label))
        if self.truth and not counts:
            raise DataError(f"{_EXPECTED}; it holds nothing. {self._remedy}")
        others = [(label, n) for label, n in counts.most_common() if label not in self._classes]
        if others:
            label, n = others[0]
            more = f", and {len(others) - 1:,} other values are no classes either" if len(others) > 1 else ""
            raise DataError(f"{_EXPECTED}; {unknown_class(label, classes)}. Items with it: {n:,}{more}. {self._remedy}")

    def wrong(self, run: Run) -> Wrong:
        """Machine labels that differ from what would have been answered, of those for which that is known."""
        from labelsieve.reports.summary import Wrong

        machine = run.labels[run.labels["source"] == "machine"]
        told = [(label, self.truth.get(str(id_))) for id_, label in zip(machine["id"], machine["label"], strict=True)]
        known = [label != truth for label, truth in told if truth in self._classes]
        return Wrong(sum(known), len(known))


def decisions(answers: pd.DataFrame, overlap: int) -> dict[int, str]:
    """The label of each row that at least ``overlap`` people answered and most of them agree on, by row."""
    if not len(answers):
        return {}
    counted = majority(answers.rename(columns={"row": "item"}))
    decided = counted[~counted["undecided"] & (counted["answers"] >= overlap)]
    return dict(zip(decided["item"].tolist(), decided["label"].tolist(), strict=True))
