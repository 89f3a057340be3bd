"""Who may label in a browser, what each has before them, and what they passed on."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Literal

from labelsieve.store.database import Database, now

Role = Literal["annotator", "admin"]
Pass = Literal["skip", "not sure"]


@dataclass(frozen=True)
class Person:
    """Somebody with a token."""

    name: str
    role: Role


@dataclass(frozen=True)
class Lease:
    """An item that one person has before them, until a time in seconds since 1970."""

    annotator: str
    row: int
    until: float


class Seats:
    """The people of a project. One person has one item at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def give_token(self, name: str, role: Role) -> str:
        """A new token, which is not kept and cannot be shown again; an earlier one of that name is void."""
        token = secrets.token_urlsafe(24)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO people (name, role, token_digest, at) VALUES (?, ?, ?, ?)",
                (name, role, _digest(token), now()),
            )
        return token

    def take_token(self, name: str) -> bool:
        """Whether that person had one. Their answers stay; the item before them is free for others."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM leases WHERE annotator = ?", (name,))
            return connection.execute("DELETE FROM people WHERE name = ?", (name,)).rowcount > 0

    def who_has(self, token: str) -> Person | None:
        found = self._database.read(
            "SELECT name, role FROM people WHERE token_digest = ?", (_digest(token),)
        ).fetchone()
        return None if found is None else Person(*found)

    def people(self) -> list[Person]:
        return [Person(*found) for found in self._database.read("SELECT name, role FROM people ORDER BY name")]

    def lease(self, lease: Lease) -> None:
        """Survives the end of the program, though not a power cut: waiting for the disk would take more than it is
        worth."""
        self._database.read("PRAGMA synchronous = NORMAL")
        try:
            with self._database.transaction() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO leases (annotator, row, until) VALUES (?, ?, ?)",
                    (lease.annotator, lease.row, lease.until),
                )
        finally:
            self._database.read("PRAGMA synchronous = FULL")

    def leases(self) -> list[Lease]:
        return [Lease(*found) for found in self._database.read("SELECT annotator, row, until FROM leases")]

    def pass_on(self, row: int, annotator: str, kind: Pass) -> None:
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM leases WHERE annotator = ?", (annotator,))
            connection.execute(
                "INSERT INTO passes (row, annotator, kind, at) VALUES (?, ?, ?, ?)", (row, annotator, kind, now())
            )

    def passes(self) -> list[tuple[int, str, Pass]]:
        """Row, annotator and kind of each, in the order in which they came."""
        return list(self._database.read("SELECT row, annotator, kind FROM passes ORDER BY number"))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
