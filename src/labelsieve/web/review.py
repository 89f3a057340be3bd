"""Machine labels looked at by a person: accepted, or corrected. The ledger stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Depends, Form, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from labelsieve.errors import DataError
from labelsieve.store.reviews import Review, Reviews
from labelsieve.web.access import Visitor, admin, genuine_admin
from labelsieve.web.items import LARGEST_ROW
from labelsieve.web.record import Facts
from labelsieve.web.room import InRoom, Room

PAGE_SIZE = 50
_LONGEST_EXCERPT = 600

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

    def address(self, page: int) -> str:
        chosen = {**self.model_dump(), "page": page}
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
    label: str
    round: int
    score: float
    review: Review | None


@router.get("/review")
def review_page(
    room: InRoom, asking: Annotated[Visitor, Depends(admin)], filters: Annotated[Filters, Query()]
) -> Response:
    """Machine labels, the least sure first."""
    facts = room.record.facts(room.desk.version)
    lines, total, reviewed = ([], 0, 0) if facts is None else _lines(room, facts, filters)
    return room.page(
        "review.html.j2",
        asking,
        lines=lines,
        total=total,
        reviewed=reviewed,
        machine=0 if facts is None else len(facts.machine.rows),
        filters=filters,
        pages=max(1, -(-total // PAGE_SIZE)),
        classes=room.project.config.classes,
        rounds=[] if facts is None else np.unique(facts.machine.rounds).tolist(),
        kind=room.project.config.data.kind,
    )


@router.post("/review/accept", status_code=303)
def accept(room: InRoom, sender: Sender, shown: Shown, row: Annotated[list[Row], Form(max_length=500)]) -> Response:
    """Accept the labels of all these items."""
    _machine_labelled(room, row)
    room.desk.review([Review(each, None, sender.name) for each in dict.fromkeys(row)])
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


def _lines(room: Room, facts: Facts, filters: Filters) -> tuple[list[Line], int, int]:
    """Lines of one page, how many there are on all of them, and how many labels have been looked at."""
    machine, names = facts.machine, [str(name) for name in facts.run.classes]
    reviews = Reviews(room.project.database).latest()
    chosen = np.ones(len(machine.rows), dtype=bool)
    if filters.label:
        chosen &= machine.labels == (names.index(filters.label) if filters.label in names else -1)
    if filters.round:
        chosen &= machine.rounds == filters.round
    if filters.show == "open":
        chosen &= ~np.isin(machine.rows, list(reviews))
    places = np.flatnonzero(chosen)
    page = min(filters.page, max(1, -(-len(places) // PAGE_SIZE)))  # the last one, if there were more before
    shown = places[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    lines = [
        Line(
            row=int(machine.rows[place]),
            id=id_,
            content=content[:_LONGEST_EXCERPT] + ("…" if len(content) > _LONGEST_EXCERPT else ""),
            label=names[machine.labels[place]],
            round=int(machine.rounds[place]),
            score=float(machine.scores[place]),
            review=reviews.get(int(machine.rows[place])),
        )
        for place, (id_, content) in zip(shown.tolist(), room.project.items.take(machine.rows[shown]), strict=True)
    ]
    return lines, len(places), sum(row in facts.row_places for row in reviews)


def _machine_labelled(room: Room, rows: list[int]) -> Facts:
    facts = room.record.facts(room.desk.version)
    if facts is None or not all(row in facts.row_places for row in rows):
        raise DataError("Only items that the machine has labelled can be reviewed.")
    return facts
