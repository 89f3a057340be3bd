"""A server on loopback that answers like Label Studio, and fails in the ways it is told to."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PERSONAL_TOKEN = "header.payload.signature"
PEOPLE = {1: "ann@example.org", 2: "bob@example.org"}


class FakeLabelStudio(ThreadingHTTPServer):
    """``failures`` are done to the next requests, one each; ``tasks`` and ``projects`` are what it holds."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.failures: list[Callable[[Handler], None]] = []
        self.requests: list[str] = []
        self.tasks: list[dict[str, Any]] = []
        self.projects: dict[int, dict[str, Any]] = {}
        self.passes = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def annotate(self, item: str, label: str, person: int = 1, **more: Any) -> None:
        """As a person would in the browser."""
        task = next(task for task in self.tasks if task["data"]["item_id"] == item)
        result = {"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [label]}}
        number = sum(len(task["annotations"]) for task in self.tasks) + 1
        note = {"id": number, "completed_by": person, "updated_at": f"2026-01-01T00:00:{number:02d}Z"}
        task["annotations"].append({**note, "was_cancelled": False, "result": [result], **more})


class Handler(BaseHTTPRequestHandler):
    server: FakeLabelStudio

    def log_message(self, *_: Any) -> None:
        return None

    def do_GET(self) -> None:
        self._handle(None)

    def do_POST(self) -> None:
        self._handle(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def answer(self, status: int, content: Any, kind: str = "application/json", **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _handle(self, body: Any) -> None:
        path = urlsplit(self.path).path
        self.server.requests.append(f"{self.command} {path}")
        if path == "/api/token/refresh/":
            self.server.passes += 1
            known = body == {"refresh": PERSONAL_TOKEN} and "Authorization" not in self.headers
            return self.answer(200 if known else 401, {"access": f"pass-{self.server.passes}"} if known else {})
        if self.server.failures:
            return self.server.failures.pop(0)(self)
        if self.headers["Authorization"] not in (f"Token {TOKEN}", f"Bearer pass-{self.server.passes}"):
            return self.answer(401, {"detail": "Invalid token."})
        return self.serve(path, body)

    def serve(self, path: str, body: Any) -> None:
        projects, tasks = self.server.projects, self.server.tasks
        if path == "/api/users/":
            return self.answer(200, [{"id": number, "email": email} for number, email in PEOPLE.items()])
        if (self.command, path) == ("POST", "/api/projects"):
            labels = [unescape(part.split('"')[0]) for part in body["label_config"].split('<Choice value="')[1:]]
            controls = {"label": {"type": "Choices", "labels": labels}}
            projects[len(projects) + 1] = {"id": len(projects) + 1, "parsed_label_config": controls}
            return self.answer(201, projects[len(projects)])
        query = parse_qs(urlsplit(self.path).query)
        number = int(query["project"][0] if path == "/api/tasks" else path.split("/")[3])
        if number not in projects:
            return self.answer(404, {"detail": "No Project matches the given query."})
        if path == "/api/tasks":
            size, page = int(query["page_size"][0]), int(query["page"][0])
            return self.answer(200, {"tasks": tasks[size * (page - 1) : size * page], "total": len(tasks)})
        if path.endswith("/import"):
            tasks += [{"id": len(tasks) + k + 101, "annotations": [], **task} for k, task in enumerate(body)]
            return self.answer(201, {"task_count": len(body)})
        return self.answer(200, projects[number])


def status(
    code: int, content: Any = b"{}", kind: str = "application/json", **headers: str
) -> Callable[[Handler], None]:
    return lambda handler: handler.answer(code, content, kind, **headers)


def page(code: int = 200) -> Callable[[Handler], None]:
    return status(code, b"<!doctype html><title>Welcome</title>", "text/html; charset=utf-8")


def reset(handler: Handler) -> None:
    """The connection breaks before an answer."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.wfile = handler.rfile = open("/dev/null", "w+b")  # noqa: SIM115 - the base class closes it


def cut_off(handler: Handler) -> None:
    """The answer ends in the middle."""
    handler.answer(500, b'{"detail": ', **{"Content-Length": "1000"})
    handler.close_connection = True


def slow(handler: Handler) -> None:
    time.sleep(1.5)
    handler.close_connection = True


@contextmanager
def running() -> Iterator[FakeLabelStudio]:
    server = FakeLabelStudio()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
