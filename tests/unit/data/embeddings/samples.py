"""Contents, and models that count their work."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np


class Listed:
    """Contents in a list."""

    def __init__(self, contents: list[str]) -> None:
        self._contents = contents

    def __len__(self) -> int:
        return len(self._contents)

    def chunks(self, start: int = 0, size: int = 1000) -> Iterator[list[str]]:
        for at in range(start, len(self._contents), size):
            yield self._contents[at : at + size]


class CountingModel:
    """Numbers that depend on the item and the identity alone; remembers what it was asked."""

    shape: tuple[int, ...] = (6,)
    dtype = np.dtype(np.float32)
    batch_size = 4

    def __init__(self, identity: str = "counting") -> None:
        self.identity = identity
        self.asked: list[bytes] = []

    def compute(self, items: list[bytes]) -> Any:
        self.asked += items
        return np.stack(
            [np.frombuffer(hashlib.sha256(self.identity.encode() + item).digest()[:6], np.uint8) for item in items]
        ).astype(np.float32)


def silent(what: str, done: int, total: int) -> None:
    """No progress is shown."""


def posts(n: int = 150) -> list[str]:
    """Texts of three subjects."""
    generator = np.random.default_rng(3)
    subjects = ("orbit moon launch rocket", "goal puck ice team", "engine wheel car brake")
    return [
        " ".join(generator.choice([*subjects[row % 3].split(), "the", "a", "of", "and", f"n{row}"], size=12))
        for row in range(n)
    ]
