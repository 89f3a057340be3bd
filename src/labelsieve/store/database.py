"""Opening the file of a project."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from labelsieve.errors import ProjectError
from labelsieve.store.migrations import STEPS

_APPLICATION = 0x1AB5  # tells our files from other people's
_PATIENCE_MS = 30_000


class Database:
    """One connection. What is committed survives a crash of the program and of the machine."""

    def __init__(self, path: Path, *, make: bool = False, steps: Sequence[Sequence[str]] = STEPS) -> None:
        self.path = path
        if not make and not path.is_file():
            raise ProjectError(f"A project needs its file {path.name}; there is none in {path.parent}.")
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._upgrade(steps)
        except sqlite3.OperationalError as error:
            raise ProjectError(
                f"{path} cannot be opened now: {error}. Make room on the disk, or the folder writable, and try again."
            ) from error
        except sqlite3.DatabaseError as error:
            raise ProjectError(f"{path} is damaged or no project file: {error}. Restore a backup.") from error

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it, or nothing; other processes wait meanwhile."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._roll_back()
                raise
            self._connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._roll_back()
            raise ProjectError(
                f"{self.path} cannot be written to: {error}. Nothing of the last step was kept, all earlier ones are. "
                "Make room on the disk, or let the other program finish, and try again."
            ) from error

    def read(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Rows, as they were when the statement began."""
        try:
            return self._connection.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise ProjectError(f"{self.path} cannot be read: {error}. If it is damaged, restore a backup.") from error

    def _roll_back(self) -> None:
        if self._connection.in_transaction:  # SQLite itself rolls back when the disk is full
            self._connection.execute("ROLLBACK")

    def is_whole(self) -> bool:
        """Whether SQLite finds the file in order."""
        checked: str = self._connection.execute("PRAGMA integrity_check").fetchone()[0]
        orphans = self._connection.execute("PRAGMA foreign_key_check").fetchone()
        return checked == "ok" and orphans is None

    def fact(self, name: str) -> str | None:
        found = self.read("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def keep_fact(self, name: str, value: str) -> None:
        with self.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", (name, value))

    def forget_fact(self, name: str) -> None:
        with self.transaction() as connection:
            connection.execute("DELETE FROM facts WHERE name = ?", (name,))

    def _upgrade(self, steps: Sequence[Sequence[str]]) -> None:
        """Missing steps, each together with the number that says it is done."""
        version = self._version()
        if version > len(steps):
            raise ProjectError(
                f"{self.path} was made by a newer labelsieve (file version {version}, this one knows {len(steps)}). "
                "Upgrade labelsieve: pip install --upgrade labelsieve."
            )
        for number in range(version, len(steps)):
            with self.transaction() as connection:
                if self._version() > number:  # another process was faster
                    continue
                for statement in steps[number]:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {number + 1}")

    def _version(self) -> int:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != _APPLICATION:
            raise ProjectError(f"{self.path} is a database, but not one of labelsieve. Choose another folder.")
        return int(version)


def now() -> str:
    """The time, as it stands in the file."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
