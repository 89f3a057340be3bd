"""The page to label on: one item, the classes, and what to do if none of them fits."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Header, Path, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from labelsieve.project.desk import Question, Turn
from labelsieve.reports import belief
from labelsieve.web.access import Visitor, genuine, visitor
from labelsieve.web.items import LARGEST_ROW, is_small
from labelsieve.web.room import InRoom, Room

SKIP, NOT_SURE, UNDO = "s", "n", "u"
_KEYS = "123456789" + "".join(letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in (SKIP, NOT_SURE, UNDO))
_TOO_LATE = "Nobody needs an answer to that item any more; this is the next one."
_NOTHING_TO_UNDO = "There is nothing to take back: the machine has used your last answer, or you have given none."

router = APIRouter(default_response_class=HTMLResponse, tags=["label"])
Asking = Annotated[Visitor, Depends(visitor)]
Sender = Annotated[Visitor, Depends(genuine)]
Row = Annotated[int, Form(ge=0, le=LARGEST_ROW)]
FromPage = Annotated[Literal["true"] | None, Header(alias="HX-Request", description="sent by the page itself")]
State = Literal["question", "preparing", "machine", "others", "done", "stuck"]


@dataclass(frozen=True)
class View:
    """The desk as one person sees it."""

    state: State
    question: Question | None
    table: dict[str, Any] | None
    small_image: bool
    undo: bool
    doing: str = ""
    """How far the machine is, while it prepares items."""


@router.get("/label")
def label_page(room: InRoom, asking: Asking) -> Response:
    """One item to label."""
    return _desk(room, asking, "label.html.j2")


@router.get("/label/desk", responses={204: {"description": "nothing has changed"}})
def desk(
    room: InRoom,
    asking: Asking,
    state: Annotated[State, Query(description="what the page shows now")] = "question",
    undo: Annotated[bool, Query(description="whether it offers to take an answer back")] = False,
    doing: Annotated[str, Query(max_length=1000, description="what it says the machine is doing")] = "",
) -> Response:
    """The middle of the page, asked for again and again while there is nothing to label."""
    view = _view(room, asking)
    if view.state == state != "question" and view.undo == undo and view.doing == doing:
        return Response(status_code=204)
    return _shown(room, asking, view, None)


@router.post("/label/answer")
def answer(
    room: InRoom, sender: Sender, row: Row, label: Annotated[str, Form(max_length=1000)], page: FromPage = None
) -> Response:
    """Keep a label. It is on disk before this answers."""
    kept = room.desk.answer(sender.name, row, label)
    return _next(room, sender, page, None if kept else _TOO_LATE)


@router.post("/label/pass/{kind}")
def pass_on(
    room: InRoom, sender: Sender, row: Row, kind: Annotated[Literal["skip", "not-sure"], Path()], page: FromPage = None
) -> Response:
    """Leave an item to others."""
    kept = room.desk.pass_on(sender.name, row, "skip" if kind == "skip" else "not sure")
    return _next(room, sender, page, None if kept else _TOO_LATE)


@router.post("/label/undo")
def undo(room: InRoom, sender: Sender, page: FromPage = None) -> Response:
    """Take the last answer back."""
    taken = not room.rounds.at_work and room.desk.undo(sender.name) is not None
    return _next(room, sender, page, "Taken back. Here it is again." if taken else _NOTHING_TO_UNDO)


def _next(room: Room, sender: Visitor, page: str | None, message: str | None) -> Response:
    """The next item in place of the last, or the whole page for browsers without scripts."""
    if page is None:
        return RedirectResponse("/label", 303)
    return _shown(room, sender, _view(room, sender), message)


def _desk(room: Room, asking: Visitor, template: str) -> Response:
    return _shown(room, asking, _view(room, asking), None, template)


def _shown(
    room: Room, asking: Visitor, view: View, message: str | None, template: str = "desk.html.j2"
) -> HTMLResponse:
    return room.page(
        template,
        asking,
        view=view,
        classes=class_keys(room.project.config.classes),
        progress=room.desk.progress(asking.name),
        message=message,
        problem=room.rounds.problem,
        stop_reason=room.desk.stop_reason,
        why_nothing=_why_nothing(room) if view.state == "done" and asking.role == "admin" else [],
        folder=shlex.quote(str(room.project.folder)),
        export_command=shlex.join(["labelsieve", "export", str(room.project.folder), "--out", "labels.csv"]),
    )


def _view(room: Room, asking: Visitor) -> View:
    question = room.desk.next_item(asking.name)
    undo = room.desk.progress(asking.name).given > 0 and not room.rounds.at_work
    if question is None:
        state = _waiting(room)
        doing = room.rounds.doing if state == "preparing" else ""
        return View(state, None, None, small_image=False, undo=undo, doing=doing)
    small = question.kind == "image" and is_small(room.project, question.content)
    return View("question", question, _table(question), small, undo)


def _waiting(room: Room) -> State:
    match room.desk.turn():
        case Turn.NOBODY:
            return "done"
        case Turn.PEOPLE:
            return "others"
        case Turn.MACHINE:
            if room.rounds.problem and not room.rounds.at_work:
                return "stuck"
            return "machine" if room.desk.version else "preparing"


def _why_nothing(room: Room) -> list[str]:
    """Why a run that has ended labelled nothing by machine, in sentences; none if it did label."""
    facts = room.record.facts(room.desk.version)
    return [] if facts is None or facts.summary.machine else belief.grounds(facts.summary)


def _table(question: Question) -> dict[str, Any] | None:
    """Columns of a row of a table."""
    if question.kind != "table":
        return None
    try:
        found = json.loads(question.content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def class_keys(classes: Sequence[str]) -> list[tuple[str, str]]:
    """Each class with its key, "" for those beyond all keys. Classes that are digits have themselves."""
    if all(len(name) == 1 and name in "0123456789" for name in classes):
        return [(name, name) for name in classes]
    return [(name, _KEYS[place : place + 1]) for place, name in enumerate(classes)]
