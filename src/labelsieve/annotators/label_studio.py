"""A small client of Label Studio's HTTP interface: projects, tasks and the people who annotate them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from labelsieve.annotators.http_connection import Connection, PassingError, Reply
from labelsieve.errors import AnnotatorError, ConfigurationError

_TASKS_PER_PAGE = 500
_SHOWN = 500
_ANNOTATED = {
    "filters": {
        "conjunction": "and",
        "items": [
            {"filter": "filter:tasks:total_annotations", "operator": "greater", "type": "Number", "value": 0},
        ],
    }
}
_TRY_AGAIN = (429, 500, 502, 503, 504)


class UnsureError(AnnotatorError):
    """The server was asked to change something, and whether it did is not known."""


class LabelStudio:
    """A server. What only reads is tried ``attempts`` times, with pauses that double, while a failure may pass."""

    def __init__(self, url: str, token: str, *, timeout: float = 60.0, attempts: int = 4, pause: float = 0.5) -> None:
        self._connection = Connection(url, timeout)
        self.url = self._connection.url
        self.attempts, self.pause = attempts, pause
        self._token = _checked_token(token)
        self._pass: str | None = None

    def __repr__(self) -> str:
        return f"LabelStudio({self.url!r})"

    def make_project(self, title: str, interface: str, *, people_per_task: int = 1) -> int:
        """Its number. ``interface`` is Label Studio's XML."""
        wanted = {"title": title, "label_config": interface, "maximum_annotations": people_per_task}
        made = self._ask("POST", "/api/projects", wanted)
        if not isinstance(made, dict) or not isinstance(made.get("id"), int):
            raise self._strange("a project without a number")
        return int(made["id"])

    def interface(self, project: int) -> dict[str, Any]:
        """What annotators fill in, by name: type and labels of each."""
        found = self._ask("GET", f"/api/projects/{project}", about=f"project {project}")
        controls = found.get("parsed_label_config") if isinstance(found, dict) else None
        if not isinstance(controls, dict):
            raise self._strange("a project without an interface")
        return controls

    def add_tasks(self, project: int, tasks: Sequence[dict[str, Any]]) -> None:
        """All of them, or none; ``UnsureError`` if the connection was lost meanwhile."""
        self._ask("POST", f"/api/projects/{project}/import", list(tasks), about=f"project {project}")

    def tasks(self, project: int, *, annotated: bool = False) -> Iterator[dict[str, Any]]:
        """All tasks of a project; or those that people have annotated, with their annotations."""
        wanted = {"fields": "all", "query": json.dumps(_ANNOTATED)} if annotated else {}
        page = seen = 0
        while True:
            page += 1
            query = {"project": project, "page": page, "page_size": _TASKS_PER_PAGE, **wanted}
            found = self._ask("GET", f"/api/tasks?{urlencode(query)}", about=f"project {project}")
            tasks: Any = found.get("tasks") if isinstance(found, dict) else None
            if not _all_objects(tasks) or not isinstance(found.get("total"), int):
                raise self._strange("a list of tasks that is none")
            yield from tasks
            seen += len(tasks)
            if seen >= found["total"] or not tasks:
                return

    def people(self) -> dict[int, str]:
        """E-mail addresses, by Label Studio's number for each person."""
        found = self._ask("GET", "/api/users/")
        if not _all_objects(found):
            raise self._strange("a list of people that is none")
        return {person["id"]: str(person["email"]) for person in found if person.get("email") and "id" in person}

    def _ask(self, method: str, path: str, body: Any = None, *, about: str = "") -> Any:
        """What the server answers. A change is asked for again only if the server never heard of it."""
        last = ""
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1))
            try:
                return self._understood(self._authorised(method, path, body), about or path)
            except PassingError as trouble:
                last = str(trouble)
                if method != "GET" and trouble.heard:
                    raise UnsureError(f"{last} Whether it did what it was asked to do is not known.") from None
        raise AnnotatorError(f"{last} It was tried {self.attempts} times.")

    def _authorised(self, method: str, path: str, body: Any) -> Reply:
        if self._token.count(".") != 2:
            return self._connection.send(method, path, body, f"Token {self._token}")
        for fresh in (False, True):
            if self._pass is None or fresh:
                self._pass = self._new_pass()
            reply = self._connection.send(method, path, body, f"Bearer {self._pass}")
            if reply.status != 401:
                break
        return reply

    def _new_pass(self) -> str:
        """A personal access token is not sent along; it buys passes that are good for some minutes."""
        reply = self._connection.send("POST", "/api/token/refresh/", {"refresh": self._token}, None)
        found = self._understood(reply, "way to use personal access tokens")
        if not isinstance(found, dict) or not isinstance(found.get("access"), str):
            raise self._strange("no pass for the token")
        return _checked_token(found["access"])

    def _understood(self, reply: Reply, about: str) -> Any:
        server = f"Label Studio at {self.url}"
        if reply.status in (401, 403):
            raise AnnotatorError(
                f"{server} does not accept the token (status {reply.status}). Copy one from Account & Settings there; "
                "of legacy tokens, only those of an organization that has them enabled are accepted."
            )
        if reply.status in _TRY_AGAIN:
            raise PassingError(f"{server} answered with status {reply.status}.", heard=True)
        if 300 <= reply.status < 400:
            raise AnnotatorError(
                f"{self.url} sends on to {str(reply.headers.get('Location'))[:_SHOWN]!r}; the token is not sent there. "
                "If Label Studio is there, give that address."
            )
        if reply.status == 404 and reply.is_json:
            raise AnnotatorError(f"{server} has no {about} that this token may see (status 404).")
        try:
            content = json.loads(reply.content)
        except (ValueError, RecursionError):
            raise AnnotatorError(
                f"{self.url} answered with {'a web page' if reply.is_page else 'something'} where JSON was expected "
                f"(status {reply.status}). Is that the address of Label Studio, as it stands in the browser?"
            ) from None
        if reply.status >= 400:
            raise AnnotatorError(f"{server} refused (status {reply.status}): {_complaint(content)}")
        return content

    def _strange(self, what: str) -> AnnotatorError:
        return AnnotatorError(f"{self.url} answered with {what}. Is it Label Studio?")


def _checked_token(token: str) -> str:
    """Never shown, not even in an error."""
    stripped = token.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigurationError("The token for Label Studio must be one word of plain letters, digits and signs.")
    return stripped


def _all_objects(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, dict) for value in values)


def _complaint(content: Any) -> str:
    if not isinstance(content, dict):
        return str(content)[:_SHOWN]
    told = content.get("validation_errors") or content.get("detail") or content
    return (told if isinstance(told, str) else json.dumps(told, ensure_ascii=False))[:_SHOWN]
