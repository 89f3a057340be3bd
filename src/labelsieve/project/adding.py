"""More items for a project, as long as nobody has been asked about any."""

from __future__ import annotations

from pathlib import Path

from labelsieve.data.readers import Understanding
from labelsieve.errors import DataError, ProjectError
from labelsieve.project.config import DataSection
from labelsieve.project.making import items_of, understood
from labelsieve.project.project import LOCK_FILE, Project
from labelsieve.store.items import Added
from labelsieve.store.lock import held


def understood_as_more(project: Project, path: Path) -> Understanding:
    """What is in the data to add, read as the project's own were."""
    _refuse_once_begun(project)
    return understood(_more_data(project, path), project.image_root())


def add_items(project: Project, path: Path) -> Added:
    """All that are new, or none; no run begins meanwhile."""
    with held(project.folder / LOCK_FILE, "labelsieve add"):
        _refuse_once_begun(project)
        return project.items.add(items_of(_more_data(project, path), project.image_root()))


def _refuse_once_begun(project: Project) -> None:
    """What is checked at random stands for the items it was drawn from; for later ones nothing could be promised."""
    if project.database.read("SELECT 1 FROM entries LIMIT 1").fetchone() is not None:
        raise ProjectError(
            "Items can be added until the first run; one has begun here, and what it promises is about the "
            f"{len(project.items):,} items it began with. Make a new project of all items, old and new, which takes "
            f"the answers along: labelsieve init NEW --data ALL --answers-from {project.folder} ..."
        )


def _more_data(project: Project, path: Path) -> DataSection:
    data, root = project.config.data, project.image_root()
    if data.kind == "features":
        raise ProjectError(
            f"Rows of numbers are read from {data.file} itself, and none can be added to it. Write one array with all "
            "rows and make a new project of it."
        )
    if root is not None and path.is_dir() and path.resolve() != root.resolve():
        raise DataError(
            f"The images of this project are named by their paths from {root} on; {path} is another folder. Put the "
            f"new images into {root}, and add that."
        )
    return data.model_copy(update={"file": str(path)})
