"""What people are asked about now, in memory: who has said what about it, and who has it before them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass
class _Item:
    """Answers by annotator; leases by annotator, with the time they end."""

    answers: dict[str, str] = field(default_factory=dict)
    leases: dict[str, float] = field(default_factory=dict)


class Batch:
    """Rows that are asked about. Holds what the file holds, so that finding the next item takes no query."""

    def __init__(self, rows: Iterable[int], overlap: int) -> None:
        self._overlap = overlap
        self._items = {row: _Item() for row in rows}
        self._open = dict.fromkeys(self._items)
        self._held: dict[str, int] = {}
        self._given: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, row: int) -> bool:
        return row in self._items

    @property
    def n_open(self) -> int:
        """Rows that are not decided."""
        return len(self._open)

    def is_open(self, row: int) -> bool:
        return row in self._open

    def given(self, annotator: str) -> int:
        """How many of these rows this person has answered."""
        return self._given[annotator]

    def answers(self, row: int) -> Mapping[str, str]:
        return self._items[row].answers

    def answer(self, row: int, annotator: str, label: str) -> None:
        item = self._items[row]
        self._given[annotator] += annotator not in item.answers
        item.answers[annotator] = label
        self.give_back(annotator)
        if is_decided(item.answers, self._overlap):
            self._open.pop(row, None)

    def take_back(self, row: int, annotator: str) -> None:
        item = self._items[row]
        if item.answers.pop(annotator, None) is not None:
            self._given[annotator] -= 1
        if not is_decided(item.answers, self._overlap):
            self._open[row] = None

    def lease(self, row: int, annotator: str, until: float) -> None:
        """One item per person: another one is given back."""
        self.give_back(annotator)
        self._items[row].leases[annotator] = until
        self._held[annotator] = row

    def give_back(self, annotator: str) -> None:
        row = self._held.pop(annotator, None)
        if row is not None:
            self._items[row].leases.pop(annotator, None)

    def held(self, annotator: str, now: float) -> int | None:
        """The row this person has before them."""
        row = self._held.get(annotator)
        return row if row is not None and self._items[row].leases[annotator] > now else None

    def has_room(self, row: int, annotator: str, now: float) -> bool:
        """Whether this person may answer: not done, not answered by them, and not enough others are at it."""
        if row not in self._open:
            return False
        item = self._items[row]
        if annotator in item.answers:
            return False
        others = sum(until > now for name, until in item.leases.items() if name != annotator)
        needed = max(self._overlap, len(item.answers) + 1)  # a tie needs one more than were given
        return len(item.answers) + others < needed

    def free(self, annotator: str, now: float) -> Iterator[int]:
        """Rows this person may be given."""
        return (row for row in self._open if self.has_room(row, annotator, now))


def is_decided(answers: Mapping[str, str], overlap: int) -> bool:
    """Whether enough people answered, and most of them the same; as ``people.decisions`` has it."""
    if len(answers) < max(overlap, 1):
        return False
    top = Counter(answers.values()).most_common(2)
    return len(top) == 1 or top[0][1] > top[1][1]
