"""People who label in Label Studio: questions of a project go there as tasks, annotations come back as answers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelsieve.annotators.label_studio import LabelStudio, UnsureError
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.exports import labelling_config, read_annotations
from labelsieve.exports.label_studio_config import ITEM_ID
from labelsieve.project.label_studio_tasks import in_parts, with_images
from labelsieve.project.project import Kept, Project
from labelsieve.types import Answer

_PLACE = "label studio"
_SHOWN = 20


@dataclass(frozen=True)
class Place:
    """Where a project's tasks are."""

    url: str
    project: int


@dataclass(frozen=True)
class Pushed:
    """How many tasks were sent, and how many the server had before."""

    sent: int
    known: int


@dataclass(frozen=True)
class Pulled:
    """Answers that were kept; ``other`` are about items not asked about now."""

    kept: Kept
    other: int


def remembered(project: Project) -> Place | None:
    """Where tasks were sent last."""
    fact = project.database.fact(_PLACE)
    return None if fact is None else Place(**json.loads(fact))


def remember(project: Project, place: Place) -> None:
    """For the next push or pull."""
    fact = json.dumps({"url": place.url, "project": place.project})
    project.database.keep_fact(_PLACE, fact)


def make_on_server(project: Project, server: LabelStudio, title: str) -> int:
    """A Label Studio project in which people choose one of the classes; returns its number."""
    config = project.config
    interface = labelling_config(config.classes, config.data.kind)
    return server.make_project(title, interface, people_per_task=config.people.overlap)


def check_interface(project: Project, server: LabelStudio, number: int) -> None:
    """Raises unless people can choose among the classes there, and nothing else."""
    classes = set(project.config.classes)
    choices = [
        set(map(str, control.get("labels") or []))
        for control in server.interface(number).values()
        if isinstance(control, dict) and control.get("type") == "Choices"
    ]
    if classes not in choices:
        found = " and ".join(", ".join(sorted(names)) for names in choices) or "none"
        raise ConfigurationError(
            f"Project {number} on the server must offer the choices {', '.join(project.config.classes)}; it offers: "
            f"{found}. Make one that fits with --create, or change its labeling interface there."
        )


def push(
    project: Project, server: LabelStudio, number: int, tasks: Sequence[dict[str, Any]], *, images: str | None = None
) -> Pushed:
    """Send the tasks that the server does not have yet; ``images`` is the address they are at, if not in the tasks."""
    there = _items_on(server, number)
    missing = [task for task in tasks if task["data"][ITEM_ID] not in there]
    for some in in_parts(with_images(project, missing, images)):
        _deliver(server, number, some)
    return Pushed(len(missing), len(tasks) - len(missing))


def pull(project: Project, server: LabelStudio, number: int) -> Pulled:
    """Keep all annotations of items that are asked about now, or none of them if one cannot be understood."""
    asked = set(project.asked_ids())
    people = server.people()
    answers: list[Answer] = []
    names: dict[str, str] = {}
    other = 0
    for task in server.tasks(number, annotated=True):
        data = task.get("data")
        item = data.get(ITEM_ID) if isinstance(data, dict) else None
        annotations = task.get("annotations") or []
        if str(item) in asked:
            answers += _annotations(task, people)
            names[str(item)] = f"task {task.get('id')}"
        else:
            other += len(annotations)
    return _keep(project, answers, names, other)


def keep_file(project: Project, path: Path) -> Pulled:
    """The same with a file that Label Studio exported, as "JSON" or "JSON-MIN"."""
    asked = set(project.asked_ids())
    answers = read_annotations(path)
    about = [answer for answer in answers if str(answer.id) in asked]
    return _keep(project, about, {}, len(answers) - len(about))


def _keep(project: Project, answers: Iterable[Answer], names: Mapping[str, str], other: int) -> Pulled:
    """Of two annotations of one task by the same person, the later one counts."""
    given = {(str(answer.id), answer.annotator): answer.label for answer in answers}
    classes = project.config.classes
    problems = [
        f"{names.get(id_, 'the task')} of item {id_!r}: {label!r}, chosen by {person}"
        for (id_, person), label in given.items()
        if label not in classes
    ]
    if problems:
        more = [f"and {len(problems) - _SHOWN:,} more"] if len(problems) > _SHOWN else []
        head = f"Annotations must name one of the classes {', '.join(classes)}; nothing was kept, because of:"
        raise DataError("\n  ".join([head, *problems[:_SHOWN], *more]))
    kept = project.answer((id_, label, person) for (id_, person), label in given.items())
    return Pulled(kept, other)


def _annotations(task: dict[str, Any], people: Mapping[int, str]) -> list[Answer]:
    """Those of one task, the latest last, with people's addresses in place of their numbers."""
    found = [note for note in task.get("annotations") or [] if isinstance(note, dict)]
    by_time = sorted(found, key=lambda note: (str(note.get("updated_at")), str(note.get("id"))))
    named = [{**note, "completed_by": _address(note.get("completed_by"), people)} for note in by_time]
    try:
        return read_annotations(json.dumps([{**task, "annotations": named}]).encode())
    except DataError as error:
        reason = str(error).rpartition("task 1: ")[2]
        raise DataError(f"Task {task.get('id')} on the server cannot be used, and nothing was kept: {reason}") from None


def _address(person: Any, people: Mapping[int, str]) -> Any:
    return people.get(person, person) if isinstance(person, int) else person


def _deliver(server: LabelStudio, number: int, tasks: list[dict[str, Any]]) -> None:
    """After a connection that was lost, only what has not arrived is sent again."""
    for attempt in range(server.attempts):
        try:
            return server.add_tasks(number, tasks)
        except UnsureError:
            if attempt + 1 == server.attempts:
                raise
            time.sleep(server.pause * 2**attempt)
            there = _items_on(server, number)
            tasks = [task for task in tasks if task["data"][ITEM_ID] not in there]
            if not tasks:
                return None
    return None


def _items_on(server: LabelStudio, number: int) -> set[Any]:
    data = (task.get("data") for task in server.tasks(number))
    return {found.get(ITEM_ID) for found in data if isinstance(found, dict)}
