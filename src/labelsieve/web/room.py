"""What the pages share."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import jinja2
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from labelsieve.project.desk import Desk
from labelsieve.project.project import Project
from labelsieve.reports.wording import display_name, percent, plural, score_text
from labelsieve.web.access import Visitor
from labelsieve.web.record import Record
from labelsieve.web.rounds import Rounds

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Room:
    """One served project."""

    project: Project
    desk: Desk
    rounds: Rounds
    record: Record
    templates: jinja2.Environment

    @property
    def title(self) -> str:
        return self.project.folder.resolve().name

    def page(self, template: str, visitor: Visitor | None, *, status: int = 200, **values: Any) -> HTMLResponse:
        text = self.templates.get_template(template).render(title=self.title, visitor=visitor, **values)
        return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


def templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("labelsieve.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "plural": plural, "name": display_name, "score": score_text}
    environment.globals["static"] = static
    return environment


@cache
def static(name: str) -> str:
    """Address of a script, style or icon. It changes with the content, so that browsers may keep what it leads to."""
    return f"/static/{name}?{hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


def room(request: Request) -> Room:
    found: Room = request.app.state.room
    return found


InRoom = Annotated[Room, Depends(room)]
