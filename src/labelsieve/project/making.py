"""A new project: data understood, items copied, settings written. The folder is there when all of it is."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from labelsieve.data.readers import Understanding, items, open_data, understand
from labelsieve.errors import ProjectError
from labelsieve.project.config import Config, as_toml
from labelsieve.store.database import Database
from labelsieve.store.items import Items

CONFIG_FILE, DATABASE_FILE = "labelsieve.toml", "project.sqlite"


def understood(config: Config) -> Understanding:
    """What the data are, before anything is written."""
    data = config.data
    reader = open_data(data.file, encoding=data.encoding)
    return understand(reader, text=data.text, image=data.image, id=data.id, columns=data.columns or None)


def make(folder: Path, config: Config) -> None:
    """Write the project; nothing is there if anything goes wrong."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProjectError(
            f"A new project needs a folder that is empty or not there yet; {folder} is not. Choose another."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise ProjectError(
            f"The project folder {folder} cannot be made; the system says: {error.strerror or error}."
        ) from None
    try:
        (part / CONFIG_FILE).write_text(as_toml(config), encoding="utf-8")
        with Database(part / DATABASE_FILE, make=True) as database:
            if not Items(database).fill(_items(config)):
                raise ProjectError(f"{config.data.file} has no items to label.")
        folder.mkdir(exist_ok=True)
        for name in (DATABASE_FILE, CONFIG_FILE):  # without the latter it is no project
            (part / name).rename(folder / name)
    except OSError as error:
        raise ProjectError(f"{folder} cannot be written; the system says: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _items(config: Config) -> Iterator[tuple[list[str], list[str]]]:
    data = config.data
    reader = open_data(data.file, encoding=data.encoding)
    return items(reader, text=data.text, image=data.image, id=data.id, columns=data.columns or None)
