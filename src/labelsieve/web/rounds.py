"""The machine's turn: ``labelsieve run`` as a process of its own, which takes the project's lock itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from labelsieve.errors import ProjectError
from labelsieve.project.desk import Desk, Turn
from labelsieve.project.project import LOCK_FILE
from labelsieve.store.lock import held

_LOOK_EVERY_SECONDS = 0.5
_PATIENCE_SECONDS = 5.0
_LAST_WORDS = 2000
_LONGEST_STEP = 200
_ERROR_MARK = "labelsieve: error: "
_STEP_MARK = " …"


class Rounds:
    """Starts the machine whenever it is its turn, never twice at once, and ends it with the server.

    ``pause``: seconds between the last answer of a batch and the start, in which that answer can be taken back.
    """

    def __init__(self, desk: Desk, *, pause: float = 4.0, command: Sequence[str] | None = None) -> None:
        self._desk = desk
        self._pause = pause
        self._command = command or (sys.executable, "-m", "labelsieve", "run", str(desk.project.folder))
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None
        self._turn_since: float | None = None
        self._begun_at = -1
        self._failed_at: int | None = None
        self.problem: str | None = None
        """Why the machine stopped, in plain words; None while all is well."""
        self._end = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="rounds", daemon=True)

    @property
    def at_work(self) -> bool:
        return self._process is not None

    @property
    def doing(self) -> str:
        """What the process says it is doing, while it prepares items; "" if it says nothing."""
        words = self._words
        if self._process is None or words is None:
            return ""
        try:
            end = os.fstat(words.fileno()).st_size
            said = os.pread(words.fileno(), _LAST_WORDS, max(0, end - _LAST_WORDS))  # the process writes where it was
        except (OSError, ValueError):  # it has ended meanwhile
            return ""
        steps = [line for line in said.decode("utf-8", "replace").splitlines() if _STEP_MARK in line]
        return steps[-1].strip()[:_LONGEST_STEP] if steps else ""

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the process, too: what it has finished is in the file."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()
        process = self._process
        if process is not None:
            process.terminate()
            try:
                process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._process = None

    def try_again(self) -> None:
        """After a failure, once its reason is gone."""
        with self._lock:
            self.problem, self._failed_at = None, None

    def _watch(self) -> None:
        while not self._end.is_set():
            with self._lock:
                try:
                    self._look()
                except (OSError, ProjectError) as error:  # a full disk must not end the watch
                    self.problem = str(error)
            self._end.wait(_LOOK_EVERY_SECONDS)

    def _look(self) -> None:
        if self._process is not None:
            if self._process.poll() is not None:
                self._finish(self._process.returncode)
            return
        if self._desk.turn() is not Turn.MACHINE:
            self._turn_since = None
            if self._failed_at is not None and self._desk.version != self._failed_at:
                self.problem, self._failed_at = None, None
            return
        self._turn_since = self._turn_since or time.monotonic()
        waited = time.monotonic() - self._turn_since >= self._pause or not self._desk.version
        if waited and self._failed_at != self._desk.version and _is_free(self._desk.project.folder / LOCK_FILE):
            self._begun_at = self._desk.version
            self._words = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._words
            )

    def _finish(self, status: int) -> None:
        self._process, self._turn_since = None, None
        # People may have answered what it asked before it was quite gone: then it is its turn again, and all is well.
        if status == 0 and (self._desk.turn() is not Turn.MACHINE or self._desk.version != self._begun_at):
            self.problem, self._failed_at = None, None
            return
        words = ""
        if self._words is not None:
            with suppress(OSError), self._words as file:
                file.seek(max(0, file.seek(0, 2) - _LAST_WORDS))
                words = file.read().decode("utf-8", "replace")
        self._failed_at = self._desk.version
        self.problem = _plain(words) or f"It ended with status {status} and said nothing."


def _plain(words: str) -> str:
    """The error that the command printed, or its last line."""
    if _ERROR_MARK in words:
        return words.rpartition(_ERROR_MARK)[2].strip()
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _is_free(lock: Path) -> bool:
    """Whether nobody else works on the project."""
    try:
        with held(lock, "looking whether it is free"):
            return True
    except ProjectError:
        return False
