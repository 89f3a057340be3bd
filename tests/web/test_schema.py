"""Whatever is sent, as the description of the calls allows or forbids it: no call breaks."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.web.conftest import csrf_of

pytest.importorskip("schemathesis")


def test_no_call_breaks(folder: Path, serving: Callable[..., str], tmp_path: Path) -> None:
    url = serving(folder)
    with httpx.Client(base_url=url) as client:
        token = csrf_of(client)
    # In a folder of its own: what an earlier run has left would change what this one sends.
    done = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json", "--checks", "not_a_server_error",
            "--max-examples", "20", "--seed", "1", "--no-color", "--phases", "examples,coverage,fuzzing",
            "--header", f"X-CSRF-Token: {token}", "--header", f"Origin: {url}",
        ],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(re.findall(r"(\d+) generated", done.stdout)[-1]) > 200
