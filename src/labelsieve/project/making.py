"""A new project: data understood, items copied, settings written. The folder is there when all of it is."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelsieve.data.readers import Understanding, items, open_data, understand
from labelsieve.errors import ProjectError
from labelsieve.project.config import Config, DataSection, as_toml
from labelsieve.project.taking_along import TakenAlong, take_answers, take_features
from labelsieve.store.database import Database
from labelsieve.store.items import Items

CONFIG_FILE, DATABASE_FILE, FEATURES_FOLDER = "labelsieve.toml", "project.sqlite", "features"


def understood(data: DataSection, image_root: Path | None = None) -> Understanding:
    """What the data are, before anything is written."""
    return understand(open_data(data.file, encoding=data.encoding), **_choice(data), image_root=image_root)


def items_of(data: DataSection, image_root: Path | None = None) -> Iterator[tuple[list[str], list[str]]]:
    """Ids and contents, a chunk at a time."""
    return items(open_data(data.file, encoding=data.encoding), **_choice(data), image_root=image_root)


def make(folder: Path, config: Config, earlier: Path | None = None) -> TakenAlong | None:
    """Write the project; nothing is there if anything goes wrong.

    ``earlier``: a project whose answers and costly features are taken along; returns what became of the answers.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectError(
            f"A new project needs a folder that is empty or not there yet; {folder} is not. Choose another."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise ProjectError(
            f"The project folder {folder} cannot be made; the system says: {error.strerror or error}. Choose another "
            "place."
        ) from None
    try:
        (part / CONFIG_FILE).write_text(as_toml(config), encoding="utf-8")
        with Database(part / DATABASE_FILE, make=True) as database:
            if not Items(database).fill(items_of(config.data)):
                raise ProjectError(f"{config.data.file} has no items to label.")
            taken = None if earlier is None else take_answers(earlier / DATABASE_FILE, database, config.classes)
        (part / FEATURES_FOLDER).mkdir()
        if earlier is not None:
            take_features(earlier / FEATURES_FOLDER, part / FEATURES_FOLDER)
        folder.mkdir(exist_ok=True)
        for name in (FEATURES_FOLDER, DATABASE_FILE, CONFIG_FILE):  # without the last it is no project
            (part / name).rename(folder / name)
        return taken
    except OSError as error:
        raise ProjectError(
            f"{folder} cannot be written; the system says: {error.strerror or error}. Nothing was made. Choose another "
            "place, or make room there."
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _choice(data: DataSection) -> dict[str, Any]:
    return {"text": data.text, "image": data.image, "id": data.id, "columns": data.columns or None}
