"""The figures of docs/results.md, one PNG file each."""

from __future__ import annotations

from pathlib import Path

from experiments.paper.figures import exhibits, overview, sweeps
from experiments.paper.store import Store


def draw(store: Store, folder: Path) -> list[Path]:
    """Draws every figure whose results exist; returns the files."""
    return [*overview.draw(store, folder), *sweeps.draw(store, folder), *exhibits.draw(store, folder)]
