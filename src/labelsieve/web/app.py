"""The application that serves one project."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Query, Request
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Scope

from labelsieve import __version__
from labelsieve.errors import DataError, LabelsieveError
from labelsieve.project.desk import LEASE_SECONDS, Desk
from labelsieve.project.project import Project
from labelsieve.store.database import Database
from labelsieve.web import dashboard, items, labelling, review
from labelsieve.web.access import Access
from labelsieve.web.guard import Guard
from labelsieve.web.record import Record
from labelsieve.web.room import STATIC, InRoom, Room, templates
from labelsieve.web.rounds import Rounds

_COOKIE_SECONDS = 90 * 24 * 3600


def create_app(
    folder: str | Path,
    *,
    tokens: bool,
    pause: float = 4.0,
    run_command: Sequence[str] | None = None,
    lease_seconds: float = LEASE_SECONDS,
) -> FastAPI:
    """``tokens``: nobody gets in without one. ``run_command`` takes the place of ``labelsieve run`` for the machine's
    turns, which begin ``pause`` seconds after the last answer."""
    project = Project(folder)
    desk = Desk(project, lease_seconds=lease_seconds)
    rounds = Rounds(desk, pause=pause, command=run_command)
    doors = Database(project.database.path)  # of its own: looking up a token waits for nobody's answer
    access = Access(doors, tokens=tokens)

    @asynccontextmanager
    async def lifespan(served: FastAPI) -> AsyncIterator[None]:
        desk.turn()  # the journal is read, and the page compiled, before anybody waits for them
        served.state.room.templates.get_template("label.html.j2")
        served.state.room.templates.get_template("desk.html.j2")
        rounds.start()
        yield
        rounds.stop()
        doors.close()
        project.close()

    app = FastAPI(title="labelsieve", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.room = Room(project, desk, rounds, Record(project.folder), templates())
    app.add_middleware(Guard, access=access, refusal=_refusal(app))
    _handle_errors(app)
    _add_entrance(app, access)
    for part in (labelling, items, dashboard, review):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app


def _add_entrance(app: FastAPI, access: Access) -> None:
    @app.get("/", include_in_schema=False)
    def start() -> RedirectResponse:
        return RedirectResponse("/label", 303)

    @app.get("/enter", response_class=HTMLResponse)
    def enter(request: Request, room: InRoom, token: Annotated[str, Query(max_length=200)] = "") -> Response:
        """Trades the token of a link for a cookie."""
        visitor = access.visitor(token)
        if visitor is None:
            message = "This link is not valid (any more). Ask for a new one."
            return room.page("message.html.j2", None, status=401, message=message)
        # A page, not a redirect: after a click in a mail or a chat, browsers withhold strict cookies from redirects.
        response = room.page("enter.html.j2", visitor)
        if access.tokens:
            response.set_cookie(
                access.cookie,
                token,
                max_age=_COOKIE_SECONDS,
                httponly=True,
                samesite="strict",
                secure=request.url.scheme == "https",
            )
        return response


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        return _said(app, request.scope, error.status_code, str(error.detail))

    @app.exception_handler(RequestValidationError)
    async def not_understood(request: Request, error: RequestValidationError) -> Response:
        if not _wants_page(request.scope):
            return await request_validation_exception_handler(request, error)
        fields = ", ".join(sorted({str(problem["loc"][-1]) for problem in error.errors()}))
        message = f"The page was sent something it cannot use ({fields}). Go back, load it again and try once more."
        return _said(app, request.scope, 422, message)

    @app.exception_handler(DataError)
    def cannot_be(request: Request, error: DataError) -> Response:
        return _said(app, request.scope, 422, str(error))

    @app.exception_handler(LabelsieveError)
    def not_kept(request: Request, error: LabelsieveError) -> Response:
        return _said(app, request.scope, 503, str(error))


def _refusal(app: FastAPI) -> Callable[[Scope, int, str], ASGIApp]:
    return lambda scope, status, message: _said(app, scope, status, message)


def _said(app: FastAPI, scope: Scope, status: int, message: str) -> Response:
    """As a page for browsers, as JSON for programs."""
    if not _wants_page(scope):
        return JSONResponse({"detail": message}, status)
    room: Room = app.state.room
    return room.page("message.html.j2", scope.get("visitor"), status=status, message=message)


def _wants_page(scope: Scope) -> bool:
    return b"text/html" in dict(scope["headers"]).get(b"accept", b"")
