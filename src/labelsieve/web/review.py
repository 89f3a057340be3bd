"""Machine labels looked at by a person: accepted, or corrected. The ledger stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Depends, Form, HTTPException, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from labelsieve.errors import DataError
from labelsieve.store.reviews import Review, Reviews
from labelsieve.types import Ints
from labelsieve.web.access import Visitor, admin, genuine_admin
from labelsieve.web.items import LARGEST_ROW
from labelsieve.web.record import Facts
from labelsieve.web.room import InRoom, Room

PAGE_SIZE = 50
_LONGEST_TEXT = 20_000
_MOST_SHORT = 180
"""Characters that fit into the lines a text begins with, on a telephone."""
_NOTHING_TICKED = "Nothing was ticked, so nothing was accepted. Tick the labels that are right, then accept them."
_LABELLED_SINCE = "The machine has labelled more since this page was made. Load it again and look at what is new."

router = APIRouter(default_response_class=HTMLResponse, tags=["review"])
Sender = Annotated[Visitor, Depends(genuine_admin)]
Row = Annotated[int, Field(ge=0, le=LARGEST_ROW)]


class Filters(BaseModel):
    """Which machine labels to show."""

    model_config = ConfigDict(frozen=True)

    label: Annotated[str, Field(max_length=1000, description="of this class only")] = ""
    round: Annotated[int, Field(ge=0, le=1_000_000, description="of this round only; 0: of all")] = 0
    show: Annotated[Literal["open", "all"], Field(description="those nobody has looked at yet, or all")] = "open"
    page: Annotated[int, Field(ge=1, le=10_000_000)] = 1
    nothing_ticked: Annotated[bool, Field(description="say so: a form was sent without any label")] = False

    def address(self, page: int, *, nothing_ticked: bool = False) -> str:
        chosen = {**self.model_dump(exclude={"nothing_ticked"}), "page": page}
        if nothing_ticked:
            chosen["nothing_ticked"] = "true"
        return "/review?" + urlencode(chosen, errors="replace")


def _filters(
    label: Annotated[str, Form(max_length=1000)] = "",
    round: Annotated[int, Form(ge=0, le=1_000_000)] = 0,
    show: Annotated[Literal["open", "all"], Form()] = "open",
    page: Annotated[int, Form(ge=1, le=10_000_000)] = 1,
) -> Filters:
    """What was shown when a form was sent, to go back to."""
    return Filters(label=label, round=round, show=show, page=page)


Shown = Annotated[Filters, Depends(_filters)]


@dataclass(frozen=True)
class Line:
    """One machine label on the page."""

    row: int
    id: str
    content: str
    unsent: int
    """Characters of the text beyond those on the page."""
    label: str
    round: int
    score: float
    review: Review | None

    @property
    def is_long(self) -> bool:
        """Whether it may take more lines than are shown at first."""
        return len(self.content) > _MOST_SHORT or self.content.count("\n") > 2


@dataclass(frozen=True, eq=False)
class Choice:
    """Places of the machine labels that a filter lets through, and of those among them nobody has looked at yet."""

    shown: Ints
    waiting: Ints


@router.get("/review")
def review_page(
    room: InRoom, asking: Annotated[Visitor, Depends(admin)], filters: Annotated[Filters, Query()]
) -> Response:
    """Machine labels, the least sure first."""
    facts = room.record.facts(room.desk.version)
    classes = room.project.config.classes
    message = _NOTHING_TICKED if filters.nothing_ticked else ""
    if facts is None:
        nothing: dict[str, Any] = {"lines": [], "rounds": [], "machine": 0, "reviewed": 0, "message": message}
        return room.page("review.html.j2", asking, filters=filters, classes=classes, **nothing)
    reviews = Reviews(room.project.database).latest()
    choice = _choice(facts, reviews, filters)
    pages = max(1, -(-len(choice.shown) // PAGE_SIZE))
    filters = filters.model_copy(update={"page": min(filters.page, pages)})  # the last one, if there were more before
    return room.page(
        "review.html.j2",
        asking,
        lines=_lines(room, facts, reviews, choice.shown[(filters.page - 1) * PAGE_SIZE : filters.page * PAGE_SIZE]),
        total=len(choice.shown),
        waiting=len(choice.waiting),
        reviewed=sum(row in facts.row_places for row in reviews),
        machine=len(facts.machine.rows),
        version=facts.version,
        filters=filters,
        message=message,
        pages=pages,
        classes=classes,
        rounds=np.unique(facts.machine.rounds).tolist(),
        kind=room.project.config.data.kind,
    )


@router.post("/review/accept", status_code=303)
def accept(
    room: InRoom, sender: Sender, shown: Shown, row: Annotated[list[Row] | None, Form(max_length=500)] = None
) -> Response:
    """Accept the labels of all these items."""
    if not row:
        return RedirectResponse(shown.address(shown.page, nothing_ticked=True), 303)
    _machine_labelled(room, row)
    room.desk.review([Review(each, None, sender.name) for each in dict.fromkeys(row)])
    return RedirectResponse(shown.address(shown.page), 303)


@router.post("/review/accept-matching", status_code=303, responses={409: {"description": _LABELLED_SINCE}})
def accept_matching(
    room: InRoom,
    sender: Sender,
    shown: Shown,
    version: Annotated[int, Form(ge=0, le=LARGEST_ROW, description="of the machine labels, when they were counted")],
) -> Response:
    """Accept all labels that match the filter and that nobody has looked at yet, on whichever page they are."""
    facts = room.record.facts(room.desk.version)
    if facts is None or facts.version != version:
        raise HTTPException(409, _LABELLED_SINCE)
    waiting = _choice(facts, Reviews(room.project.database).latest(), shown).waiting
    room.desk.review([Review(row, None, sender.name) for row in facts.machine.rows[waiting].tolist()])
    return RedirectResponse(shown.address(shown.page), 303)


@router.post("/review/correct", status_code=303)
def correct(
    room: InRoom,
    sender: Sender,
    shown: Shown,
    row: Annotated[int, Form(ge=0, le=LARGEST_ROW)],
    correction: Annotated[str, Form(max_length=1000)],
) -> Response:
    """Give one item another label; the machine's own accepts it."""
    if correction not in room.project.config.classes:
        raise DataError(f"A label must be one of {list(room.project.config.classes)}; got {correction!r}.")
    facts = _machine_labelled(room, [row])
    own = str(facts.run.classes[facts.machine.labels[facts.row_places[row]]])
    room.desk.review([Review(row, None if correction == own else correction, sender.name)])
    return RedirectResponse(shown.address(shown.page), 303)


def _choice(facts: Facts, reviews: Mapping[int, Review], filters: Filters) -> Choice:
    machine, names = facts.machine, [str(name) for name in facts.run.classes]
    matching = np.ones(len(machine.rows), dtype=bool)
    if filters.label:
        matching &= machine.labels == (names.index(filters.label) if filters.label in names else -1)
    if filters.round:
        matching &= machine.rounds == filters.round
    waiting = np.flatnonzero(matching & ~np.isin(machine.rows, list(reviews)))
    return Choice(shown=waiting if filters.show == "open" else np.flatnonzero(matching), waiting=waiting)


def _lines(room: Room, facts: Facts, reviews: Mapping[int, Review], places: Ints) -> list[Line]:
    machine = facts.machine
    return [
        Line(
            row=int(machine.rows[place]),
            id=id_,
            content=content[:_LONGEST_TEXT],
            unsent=max(0, len(content) - _LONGEST_TEXT),
            label=str(facts.run.classes[machine.labels[place]]),
            round=int(machine.rounds[place]),
            score=float(machine.scores[place]),
            review=reviews.get(int(machine.rows[place])),
        )
        for place, (id_, content) in zip(places.tolist(), room.project.items.take(machine.rows[places]), strict=True)
    ]


def _machine_labelled(room: Room, rows: list[int]) -> Facts:
    facts = room.record.facts(room.desk.version)
    if facts is None or not all(row in facts.row_places for row in rows):
        raise DataError("Only items that the machine has labelled can be reviewed.")
    return facts
