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
                raise ProjectError(
                    f"The project in {path.parent} is being worked on by {_named(path)}. Wait for it to finish, or "
                    "stop it."
                ) from None
        file.seek(0)
        file.truncate()
        json.dump({"doing": doing, "process": os.getpid(), "machine": socket.gethostname(), "since": now()}, file)
        file.flush()
        yield
        file.seek(0)
        file.truncate()


def holder(path: Path) -> str | None:
    """Who has the lock now, in words; None if nobody has.

    A process that was killed leaves its name behind, so the lock itself is tried, but only where there is a name:
    trying it gets in the way of others for a moment.
    """
    try:
        with path.open(encoding="utf-8") as file:
            if not file.read() or fcntl is None:
                return None
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return _named(path)


def _named(path: Path) -> str:
    try:
        named = json.loads(path.read_text(encoding="utf-8"))
        return f"process {named['process']} on {named['machine']}, since {named['since']}: {named['doing']}"
    except (ValueError, KeyError):
        return "another process"
