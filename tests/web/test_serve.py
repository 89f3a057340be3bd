"""``labelsieve serve`` as a process, and odd requests to everything it describes."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from fastapi.testclient import TestClient

from tests.web.conftest import csrf_of

COMMAND = """
import argparse, sys
from pathlib import Path
from labelsieve.cli.main import _FAILED
from labelsieve.cli.serve import serve
from labelsieve.errors import LabelsieveError
host, port, people, admin = sys.argv[2:6]
given = argparse.Namespace(folder=Path(sys.argv[1]), host=host, port=int(port), people=people, admin=admin or None)
try:
    sys.exit(serve(given))
except LabelsieveError as error:
    print(error, file=sys.stderr)
    sys.exit(_FAILED)
"""
ODD = (
    "",
    "0",
    "-1",
    "9" * 40,
    "1.5",
    "true",
    "null",
    "a,b",
    "../../etc/passwd",
    "\x00",
    "é😀\u202e",
    "{}",
    "'\";--",
    "x" * 5000,
)


def process(folder: Path, people: str = "", admin: str = "", port: int = 0) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-u", "-c", COMMAND, str(folder), "127.0.0.1", str(port), people, admin]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def first_lines(server: subprocess.Popen[str], count: int) -> list[str]:
    assert server.stdout is not None
    return [server.stdout.readline() for _ in range(count)]


def ended(server: subprocess.Popen[str]) -> int:
    server.send_signal(signal.SIGINT)
    return server.wait(20)


def test_links_for_people_one_server_at_a_time(folder: Path) -> None:
    server = process(folder, "ann, bob", "boss")
    try:
        lines = first_lines(server, 4)
        links = dict(re.findall(r"(\w+ \w+): (http://\S+)", "".join(lines)))
        assert list(links) == ["annotator ann", "annotator bob", "admin boss"]
        with httpx.Client() as client:
            for _ in range(100):
                try:
                    welcome = client.get(links["annotator ann"])
                    break
                except httpx.TransportError:
                    time.sleep(0.1)
            assert "Welcome, <bdi>ann</bdi>" in welcome.text
            address = links["annotator ann"].partition("/enter")[0]
            assert client.get(f"{address}/label").status_code == 200
            assert client.get(f"{address}/dashboard").status_code == 403
        second = process(folder)
        assert second.wait(30) == 2
        assert second.stderr is not None
        assert f"process {server.pid}" in second.stderr.read()
    finally:
        assert ended(server) == 0


def test_a_port_that_is_taken(folder: Path, serving: Callable[..., str]) -> None:
    address = serving(folder)
    server = process(folder, "ann", port=int(address.rpartition(":")[2]))
    assert server.wait(30) == 2
    assert server.stderr is not None
    assert "--port" in server.stderr.read()


def test_nothing_that_is_sent_breaks_the_server(folder: Path, client_of: Callable[..., TestClient]) -> None:
    client = client_of(folder)
    csrf = csrf_of(client)
    described = client.get("/openapi.json").json()
    assert {"/label/answer", "/review/accept", "/items/{row}/image"} <= set(described["paths"])
    sent = 0
    for path, operations in described["paths"].items():
        for method, odd in itertools.product(operations, ODD):
            way = re.sub(r"\{\w+\}", httpx.QueryParams({"": odd}).__str__()[1:] or "x", path)
            named = [given["name"] for given in operations[method].get("parameters", []) if given["in"] == "query"]
            fields = ("row", "label", "correction", "page", "round", "show")
            for content in (
                {"data": {**dict.fromkeys(fields, odd), "csrf": csrf}},
                {"data": {"row": "20", "label": odd, "correction": odd, "csrf": csrf}},
                {"content": odd.encode(), "headers": {"content-type": "multipart/form-data; boundary=x; charset=nope"}},
                {"files": {"row": ("row", odd.encode())}, "headers": {"X-CSRF-Token": csrf}},
                {"json": {"row": odd}, "headers": {"X-CSRF-Token": csrf}},
            ):
                answer = client.request(
                    method, way, params=dict.fromkeys(named, odd), **(content if method == "post" else {})
                )
                assert answer.status_code < 500, (method, way, content, answer.text)
                sent += 1
    assert sent > 500
