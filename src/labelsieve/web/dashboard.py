"""Where the project stands: for the admin."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Path
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from labelsieve.project.desk import Turn
from labelsieve.reports import belief
from labelsieve.reports.summary import Wrong
from labelsieve.reports.wording import score_text
from labelsieve.store.reviews import Reviews
from labelsieve.store.seats import Seats
from labelsieve.web.access import Visitor, admin, genuine_admin
from labelsieve.web.record import Facts
from labelsieve.web.room import InRoom, Room

_MOST_DISAGREEMENTS = 50
_WORDS = {
    Turn.PEOPLE: "People are labelling.",
    Turn.MACHINE: "The machine is learning.",
    Turn.NOBODY: "Finished.",
}
_PREPARING = "The items are being prepared; nobody has been asked for a label yet."

router = APIRouter(tags=["dashboard"])
Asking = Annotated[Visitor, Depends(admin)]


@dataclass(frozen=True)
class PersonRow:
    """What one person did."""

    name: str
    answers: int
    not_sure: int
    skipped: int
    reviews: int


@dataclass(frozen=True)
class Disagreement:
    """An item that people gave different labels, and who gave which."""

    id: str
    answers: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Panel:
    """The scores of one class in one round."""

    code: int
    name: str
    caption: str


@router.get("/dashboard", response_class=HTMLResponse)
def dashboard(room: InRoom, asking: Asking) -> Response:
    """Coverage, the promise, labels, rounds, classes, scores, people and their disagreements."""
    turn = room.desk.turn()
    facts = room.record.facts(room.desk.version)
    disagreements, several = _disagreements(room)
    return room.page(
        "dashboard.html.j2",
        asking,
        words=_WORDS[turn] if turn is not Turn.MACHINE or room.desk.version else _PREPARING,
        problem=room.rounds.problem,
        stop_reason=room.desk.stop_reason if turn is Turn.NOBODY else None,
        progress=room.desk.progress(asking.name),
        items=len(room.project.items),
        answered=room.desk.answers_in_all(),
        summary=None if facts is None else facts.summary,
        headline=None if facts is None else belief.headline(facts.summary),
        promise=None if facts is None else belief.promise(facts.run),
        grounds=[] if facts is None else belief.grounds(facts.summary),
        panels=[] if facts is None else _panels(facts),
        people=_people(room),
        disagreements=disagreements,
        several=several,
        agreement=agreement.in_words() if (agreement := room.project.agreement()) else None,
        overlap=room.project.config.people.overlap,
    )


@router.get(
    "/dashboard/scores/{scheme}/{code}",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}, 404: {"description": "no scores of such a class"}},
)
def scores(
    room: InRoom,
    asking: Asking,  # noqa: ARG001
    scheme: Annotated[Literal["light", "dark"], Path()],
    code: Annotated[int, Path(ge=0, le=100_000)],
) -> Response:
    """Scores of the held-out points of a class in the latest round, as a picture."""
    facts = room.record.facts(room.desk.version)
    drawn = None if facts is None else room.record.score_picture(facts, code, scheme)
    if drawn is None:
        raise HTTPException(404, "There are no scores of such a class.")
    return Response(drawn, media_type="image/svg+xml")


@router.post("/rounds/again", response_class=HTMLResponse, status_code=303)
def try_again(room: InRoom, sender: Annotated[Visitor, Depends(genuine_admin)]) -> Response:  # noqa: ARG001
    """Let the machine try once more after a failure."""
    room.rounds.try_again()
    return RedirectResponse("/label", 303)


def _panels(facts: Facts) -> list[Panel]:
    row = facts.last_round
    if row is None:
        return []
    held_out, panels = row.report.held_out, []
    for code in facts.drawn_classes():
        own = held_out.predicted == code
        threshold = float(row.report.thresholds[code])
        above = own & (held_out.scores >= threshold)
        count = Wrong(int((above & ~held_out.correct).sum()), int(above.sum()))
        caption = (
            f"threshold {score_text(threshold)}; at or above it {belief.fraction(count)} wrong"
            if np.isfinite(threshold)
            else f"no threshold; {int((own & ~held_out.correct).sum()):,} of {int(own.sum()):,} wrong"
        )
        panels.append(Panel(code, str(facts.run.classes[code]), caption))
    return panels


def _people(room: Room) -> list[PersonRow]:
    database = room.project.database
    answers = Counter(
        dict(database.read("SELECT annotator, count(*) FROM answers WHERE taken_back IS NULL GROUP BY 1"))
    )
    reviews = Counter(review.annotator for review in Reviews(database).latest().values())
    seats = Seats(database)
    passes = Counter((annotator, kind) for _, annotator, kind in seats.passes())
    names = {*answers, *reviews, *(name for name, _ in passes), *(person.name for person in seats.people())}
    rows = [
        PersonRow(name, answers[name], passes[name, "not sure"], passes[name, "skip"], reviews[name]) for name in names
    ]
    return sorted(rows, key=lambda row: (-row.answers, row.name))


def _disagreements(room: Room) -> tuple[list[Disagreement], int]:
    """The latest ones, and how many items several people have answered."""
    found = room.project.database.read(
        "SELECT items.row, items.id, label, annotator FROM answers JOIN items USING (row) WHERE taken_back IS NULL "
        "AND row IN (SELECT row FROM answers WHERE taken_back IS NULL GROUP BY row HAVING count(*) > 1) ORDER BY number"
    ).fetchall()
    labels: dict[tuple[int, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row, id_, label, annotator in found:
        labels[row, id_][label].append(annotator)
    several = [Disagreement(id_, list(by_label.items())) for (_, id_), by_label in labels.items() if len(by_label) > 1]
    return several[::-1][:_MOST_DISAGREEMENTS], len(labels)
