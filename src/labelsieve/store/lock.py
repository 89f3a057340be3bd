"""One process at a time works on a project."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labelsieve.errors import ProjectError
from labelsieve.store.database import now

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def held(path: Path, doing: str) -> Iterator[None]:
    """Inside, no other process has the lock; the system gives it back if this one dies."""
    with path.open("a+", encoding="utf-8") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ProjectError(_who(path)) from None
        file.seek(0)
        file.truncate()
        json.dump({"doing": doing, "process": os.getpid(), "machine": socket.gethostname(), "since": now()}, file)
        file.flush()
        yield
        file.seek(0)
        file.truncate()


def _who(path: Path) -> str:
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        who = f"process {holder['process']} on {holder['machine']}, since {holder['since']}: {holder['doing']}"
    except (ValueError, KeyError):
        who = "another process"
    return f"The project in {path.parent} is being worked on by {who}. Wait for it to finish, or stop it."
