"""A real Label Studio server on loopback, and people who use it as their browsers would."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

import pytest

ROOT = Path(__file__).parents[2]
VENV = Path(os.environ.get("LABEL_STUDIO_VENV", ROOT / ".venv-label-studio"))
PATIENCE_SECONDS = 300
ADMIN = "ann@example.org"
PASSWORD = "long-enough-for-a-test"
TOKEN = "89abcdef0123456789abcdef0123456789abcdef"


def program() -> Path:
    """The server's program; without it tests are skipped, but never where everything must be tested."""
    found = VENV / "bin" / "label-studio"
    if not found.exists():
        message = f"Label Studio is not installed in {VENV}: run tests/label_studio/install.sh"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The address of a server with its data in this folder, and one user."""
    command = program()
    data = folder / "label-studio"
    if (VENV / "blank").is_dir():
        shutil.copytree(VENV / "blank", data)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = {"LATEST_VERSION_CHECK": "0", "COLLECT_ANALYTICS": "0", "SENTRY_DSN": "", "FRONTEND_SENTRY_DSN": ""}
    home = {"HOME": str(folder), "LABEL_STUDIO_BASE_DATA_DIR": str(data), "SECRET_KEY": "for this test only"}
    passed_on = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    address = ["--internal-host", "127.0.0.1", "--port", str(port), "--data-dir", str(data), "--no-browser"]
    user = ["--username", ADMIN, "--password", PASSWORD, "--user-token", TOKEN, "--enable-legacy-api-token"]
    with (folder / "label-studio.log").open("wb") as log:
        server = subprocess.Popen(
            [command, "start", *address, *user], env={**passed_on, **home, **quiet}, cwd=folder, stdout=log, stderr=log
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, folder / "label-studio.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with build_opener(ProxyHandler({})).open(address, timeout=5) as answer:
                if json.load(answer) == {"status": "UP"}:
                    return
        except (URLError, OSError, ValueError):
            time.sleep(0.25)
    pytest.fail(f"Label Studio did not start; its log ends with:\n{log.read_text(errors='replace')[-3000:]}")


class Person:
    """Signed in to the server, with cookies, as a browser is."""

    def __init__(self, url: str, email: str, invitation: str | None = None) -> None:
        self.url, self.email = url, email
        self._opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()))
        page = f"{url}{invitation or '/user/login/'}"
        form = self._opener.open(page).read().decode()
        hidden = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert hidden is not None
        self._csrf = hidden[1]
        given = {"csrfmiddlewaretoken": self._csrf, "email": email, "password": PASSWORD, "allow_newsletters": "false"}
        self._opener.open(Request(page, urlencode(given).encode(), {"Referer": page})).close()
        assert self.call("GET", "/api/current-user/whoami")["email"] == email

    def call(self, method: str, path: str, body: Any = None) -> Any:
        cookies = next(h for h in self._opener.handlers if isinstance(h, HTTPCookieProcessor)).cookiejar
        csrf = next((cookie.value for cookie in cookies if cookie.name == "csrftoken"), self._csrf)
        headers = {"Content-Type": "application/json", "X-CSRFToken": csrf or "", "Referer": self.url}
        content = None if body is None else json.dumps(body).encode()
        with self._opener.open(Request(self.url + path, content, headers, method=method)) as answer:
            return json.load(answer)

    def tasks(self, project: int) -> dict[str, dict[str, Any]]:
        """By item."""
        found = self.call("GET", f"/api/tasks?project={project}&page_size=10000&fields=all")["tasks"]
        return {task["data"]["item_id"]: task for task in found}

    def choose(self, task: dict[str, Any], label: str, *, cancelled: bool = False) -> dict[str, Any]:
        result = {"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [label]}}
        body = {"result": [] if cancelled else [result], "was_cancelled": cancelled}
        made: dict[str, Any] = self.call("POST", f"/api/tasks/{task['id']}/annotations", body)
        return made
