"""Projects made by hand, without reading data: items are texts, what the classifier sees are two clouds of points."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.engine.entries import Asked, ClassesNamed, MachineLabelled, Role, RunStarted
from labelsieve.project import Project
from labelsieve.project.config import as_toml, checked_config
from labelsieve.project.making import CONFIG_FILE, DATABASE_FILE
from labelsieve.store.database import Database
from labelsieve.store.items import Items
from labelsieve.store.journal import journalled

CLASSES = ("animals", "food", "travel")


def points(n: int, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Features, and the true class of each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=n)
    return (rng.normal(size=(n, 4)) + 8 * np.eye(n_classes, 4)[truth]).astype(np.float32), truth


def made(
    folder: Path,
    texts: Sequence[str],
    *,
    classes: Sequence[str] = CLASSES,
    asked: Sequence[int] = (),
    machine: Sequence[int] = (),
    overlap: int = 1,
    kind: str = "features",
    data: str = "points.npy",
    labelling: dict[str, Any] | None = None,
    ids: Sequence[str] | None = None,
) -> Path:
    """A project; with ``asked``, the machine has already asked about these rows and labelled those in ``machine``."""
    folder.mkdir(parents=True)
    np.save(folder / "points.npy", points(len(texts), len(classes))[0])
    settings = {"train_budget": 30, "validation_budget": 150, "seed_size": 20, "batch_size": 10, **(labelling or {})}
    config = {
        "classes": list(classes),
        "data": {"file": data, "kind": kind, **({"text": "body"} if kind == "text" else {})},
        "labelling": settings,
        "people": {"overlap": overlap},
    }
    (folder / CONFIG_FILE).write_text(as_toml(checked_config(config, "test")), encoding="utf-8")
    with Database(folder / DATABASE_FILE, make=True) as database:
        Items(database).fill([(list(ids or [f"i{row:05d}" for row in range(len(texts))]), list(texts))])
        if len(asked):
            ledger = journalled(database)
            rows = np.array(asked)
            ledger.append(
                RunStarted(len(texts), 0, 0, "by hand"),
                ClassesNamed(tuple(classes)),
                Asked(1, Role.TRAIN, rows, np.full(len(rows), 0.5)),
            )
            if len(machine):
                ledger.append(_by_machine(np.array(machine), len(classes)))
            with database.transaction() as connection:
                connection.execute("INSERT INTO facts VALUES ('run', ?)", (json.dumps(_FACTS),))
    return folder


def handed_out(folder: Path) -> list[int]:
    """Rows that are asked about, in the order in which people get them."""
    with Project(folder) as project:
        return [int(row) for row in project.asked_rows()]


_FACTS = {"tolerance": 0.05, "delta": 0.05, "certified": True, "thresholds": "CertifiedRule()"}


def _by_machine(rows: np.ndarray, n_classes: int) -> MachineLabelled:
    scores = np.linspace(0.91, 0.999, len(rows))
    return MachineLabelled(1, rows, rows % n_classes, scores, np.full(len(rows), 0.9), "by-hand")
