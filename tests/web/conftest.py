"""A server without a network, and one with."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

import httpx
import uvicorn
from fastapi.testclient import TestClient

from labelsieve.store.database import Database
from labelsieve.store.seats import Role, Seats
from labelsieve.web.app import create_app
from tests.web.projects import made

IDLE = ("sleep", "60")
"""In place of the machine, for tests in which it has no turn."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Thirty texts, twelve of which are asked about, ten labelled by machine."""
    texts = [f"text number {row}" for row in range(30)]
    return made(tmp_path / "project", texts, asked=range(12), machine=range(20, 30))


def token_for(folder: Path, name: str, role: Role = "annotator") -> str:
    with Database(folder / "project.sqlite") as database:
        return Seats(database).give_token(name, role)


def csrf_of(client: httpx.Client) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get("/label").text)
    assert found
    return found[1]


def row_of(page: str) -> int:
    found = re.search(r'name="row" value="(\d+)"', page)
    assert found
    return int(found[1])


@pytest.fixture
def client_of() -> Iterator[Callable[..., TestClient]]:
    """Clients of servers that end with the test; ``token`` is sent as the cookie."""
    with ExitStack() as stack:

        def made_client(folder: Path, token: str | None = None, **options: Any) -> TestClient:
            settings = {"tokens": token is not None, "run_command": IDLE, **options}
            app = create_app(folder, **settings)
            client = stack.enter_context(TestClient(app, base_url="http://localhost", follow_redirects=False))
            if token:
                assert client.get("/enter", params={"token": token}).status_code == 200
            return client

        yield made_client


@pytest.fixture
def serving() -> Iterator[Callable[..., str]]:
    """Addresses of servers on loopback, in threads, that end with the test."""
    with ExitStack() as stack:

        def address(folder: Path, **options: Any) -> str:
            door = socket.create_server(("127.0.0.1", 0))
            app = create_app(folder, **{"tokens": False, "run_command": IDLE, **options})
            server = uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning"))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
            thread.start()

            def end() -> None:
                server.should_exit = True
                thread.join(15)

            stack.callback(end)
            return f"http://127.0.0.1:{door.getsockname()[1]}"

        yield address
