"""Answers out of what Label Studio exports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from labelsieve.errors import DataError
from labelsieve.exports.label_studio_config import ITEM_ID, LABEL_NAME
from labelsieve.types import Answer

_UNKNOWN_ANNOTATOR = "label-studio"
_SHOWN = 20


def read_annotations(source: Path | str | bytes) -> list[Answer]:
    """The answers in Label Studio's exports "JSON" and "JSON-MIN", at a path or as bytes.

    All annotations of a task are kept, but those that were cancelled or name no class. Predictions are no answers.
    """
    name = "The export" if isinstance(source, bytes) else str(source)
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    try:
        tasks = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} must be Label Studio's JSON, in UTF-8; it cannot be read: {error}.") from None
    if not isinstance(tasks, list):
        raise DataError(f"{name} must be Label Studio's JSON, which is a list of tasks; it is {_a(tasks)}.")
    answers: list[Answer] = []
    problems: list[str] = []
    for number, task in enumerate(tasks, start=1):
        try:
            answers.extend(_answers(task))
        except DataError as error:
            problems.append(f"task {number}: {error}")
    if problems:
        more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        raise DataError("\n  ".join([f"{name} has tasks that cannot be read:", *problems[:_SHOWN], *more]))
    return answers


def _answers(task: Any) -> Iterator[Answer]:
    if not isinstance(task, dict):
        raise DataError(f"must be an object; it is {_a(task)}")
    is_full = isinstance(task.get("data"), dict) or "annotations" in task
    if not is_full:
        label = _only_choice([task.get(LABEL_NAME)])
        if label is not None and not task.get("was_cancelled"):
            yield Answer(_id(task, ITEM_ID), label, _person(task.get("annotator")) or _UNKNOWN_ANNOTATOR)
        return
    annotations = task.get("annotations") or []
    if not _all_objects(annotations):
        raise DataError("annotations must be a list of objects")
    for annotation in annotations:
        results = annotation.get("result") or []
        if annotation.get("was_cancelled") or not results:
            continue
        if not _all_objects(results):
            raise DataError("the result of an annotation must be a list of objects")
        chosen = [result for result in results if result.get("type") == "choices"]
        named = [result for result in chosen if result.get("from_name") == LABEL_NAME] or chosen
        label = _only_choice([result.get("value") for result in named])
        if label is not None:
            yield Answer(_id(task.get("data"), ITEM_ID, "id"), label, _annotator(annotation, named))


def _only_choice(values: list[Any]) -> str | None:
    """The class in ``{"choices": ["cat"]}``, or in the plain "cat" of the short form; None if nothing was chosen."""
    choices: list[Any] = []
    for value in values:
        inner = value.get("choices") if isinstance(value, Mapping) else value
        choices.extend(inner if isinstance(inner, list) else [] if inner in (None, "") else [inner])
    if len(choices) > 1 or not all(isinstance(choice, (str, int)) for choice in choices):
        raise DataError(f"one annotation must choose one class; got {json.dumps(choices, ensure_ascii=False)}")
    return str(choices[0]) if choices else None


def _id(data: Any, *names: str) -> str | int:
    found = [data[name] for name in names if name in data] if isinstance(data, dict) else []
    if not found or isinstance(found[0], bool) or not isinstance(found[0], (str, int)):
        raise DataError(f"must have the id of the item in its data, as {' or '.join(names)}")
    return found[0]


def _annotator(annotation: dict[str, Any], results: list[Any]) -> str:
    """Who completed it; of one that was imported and not touched since, whom our export named.

    Label Studio says that whoever imported annotations has completed them, and has nobody who updated them.
    """
    metas = [result["meta"] for result in results if isinstance(result.get("meta"), Mapping)]
    named = next((_person(meta["annotator"]) for meta in metas if "annotator" in meta), None)
    completed_by = _person(annotation.get("completed_by"))
    is_untouched = "updated_by" in annotation and annotation["updated_by"] is None
    return (is_untouched and named) or completed_by or named or _UNKNOWN_ANNOTATOR


def _person(person: Any) -> str | None:
    """A name or e-mail address where there is one, else Label Studio's number for that person."""
    if isinstance(person, Mapping):
        person = person.get("email") or person.get("id")
    return None if person is None or person == "" else str(person)


def _all_objects(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, dict) for value in values)


def _a(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), "a number")
