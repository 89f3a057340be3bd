"""The ledger: everything that happened, in order, and never changed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from labelsieve.engine.entries import Entry, RoundClosed
from labelsieve.engine.state import LedgerState
from labelsieve.types import RoundReport


class Ledger:
    """Append-only list of entries. All else — who is unlabelled, who is held out — is ``state``, a fold over them."""

    def __init__(self, entries: Sequence[Entry] = (), keep: Callable[[tuple[Entry, ...]], None] | None = None) -> None:
        """``keep`` is given all further entries before they count, to write them down; it may raise."""
        self._entries = list(entries)
        self._keep = keep
        self.state = fold(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def append(self, *entries: Entry) -> None:
        """Add entries together: all of them, or none if one contradicts what is there."""
        try:
            for entry in entries:
                self.state.apply(entry)
            if self._keep is not None:
                self._keep(entries)
        except BaseException:
            self.state = fold(self._entries)
            raise
        self._entries.extend(entries)

    def copy(self) -> Ledger:
        """A ledger of its own with the same entries, made by replaying them."""
        return Ledger(self._entries)

    @property
    def rounds(self) -> list[RoundReport]:
        """Reports of the rounds that are over."""
        return [entry.report for entry in self if isinstance(entry, RoundClosed)]


def fold(entries: list[Entry]) -> LedgerState:
    """The state that follows from entries: resuming is replaying."""
    state = LedgerState()
    for entry in entries:
        state.apply(entry)
    return state
