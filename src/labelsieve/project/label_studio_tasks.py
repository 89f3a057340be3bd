"""Items of a project as tasks for Label Studio."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from labelsieve.data.readers.images import file_inside
from labelsieve.errors import DataError
from labelsieve.exports import COLUMNS, write_export
from labelsieve.exports.label_studio_config import DATA_KEYS
from labelsieve.project.project import Project
from labelsieve.writing import write_atomically

_TASKS_AT_ONCE = 500
_BYTES_AT_ONCE = _LARGEST_IMAGE = 8 * 2**20
_SHOWN_BY_BROWSERS = {
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}


def tasks_of(project: Project, *, machine_labels: bool = False) -> list[dict[str, Any]]:
    """What people are asked about now; or what the machine has labelled, with its labels as predictions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.json"
        chunks = _by_machine(project) if machine_labels else _questions(project)
        config = project.config
        write_export(chunks, path, "label-studio", classes=config.classes, kind=config.data.kind)
        tasks: list[dict[str, Any]] = json.loads(path.read_bytes())
    return tasks


def with_images(
    project: Project, tasks: Iterable[dict[str, Any]], address: str | None = None
) -> Iterator[dict[str, Any]]:
    """The tasks as they are shown, with images in them, unless these are at an address."""
    kind = project.config.data.kind
    key = DATA_KEYS[kind]
    for task in tasks:
        shown = {key: _image(project, task["data"][key], address)} if kind == "image" else {}
        yield {**task, "data": {**task["data"], **shown}}


def write_tasks(tasks: Iterable[dict[str, Any]], path: Path) -> None:
    """For Label Studio's import of files."""
    write_atomically({path: json.dumps(list(tasks), ensure_ascii=False, indent=1).encode() + b"\n"})


def in_parts(tasks: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """As many as a server takes at once."""
    part: list[dict[str, Any]] = []
    size = 0
    for task in tasks:
        task_size = len(json.dumps(task))
        if part and (len(part) == _TASKS_AT_ONCE or size + task_size > _BYTES_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(task)
        size += task_size
    if part:
        yield part


def _questions(project: Project) -> Iterator[pd.DataFrame]:
    questions = project.questions()[["id", "content"]].astype(object)
    yield questions.assign(**dict.fromkeys(set(COLUMNS) - {"id"}))


def _by_machine(project: Project) -> Iterator[pd.DataFrame]:
    for table in project.labels(content=True):
        yield table[table["source"] == "machine"]


def _image(project: Project, name: str, address: str | None) -> str:
    """The address of an image; or the image itself, so that Label Studio needs no way to the files."""
    if address is not None:
        return address + quote(name)
    file = file_inside(project.image_root() or project.folder, name)
    kind = _SHOWN_BY_BROWSERS.get(Path(name).suffix.lower())
    if file is None or not file.is_file():
        raise DataError(f"The image {name!r} must be a file in the folder of the images; there is none.")
    if kind is None or file.stat().st_size > _LARGEST_IMAGE:
        raise DataError(
            f"The image {name!r} cannot be put into a task: it must be a BMP, GIF, JPEG, PNG or WebP of at most "
            f"{_LARGEST_IMAGE // 2**20} MB. Let a web server show the images, and give its address with --images."
        )
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
