"""Who is asking, and whether they may."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Form, Header, HTTPException, Request

from labelsieve.store.database import Database
from labelsieve.store.seats import Person, Role, Seats

LOCAL_PERSON = Person("you", "admin")
_SECRET = "web secret"


@dataclass(frozen=True)
class Visitor:
    """A person and what a form must send back to show that this server made it for them."""

    name: str
    role: Role
    csrf: str


class Access:
    """``tokens``: everybody needs one. Without, whoever reaches this server is the one local person, so that the name
    in the address must be a loopback one: else a web page elsewhere could point a name of its own at this server."""

    def __init__(self, database: Database, *, tokens: bool) -> None:
        self.tokens = tokens
        self._seats = Seats(database)
        self._secret = _kept_secret(database)
        self.cookie = f"labelsieve-{self._signed('cookie')[:8]}"  # projects on one machine do not share it

    def host_is_fine(self, host: str) -> bool:
        return self.tokens or is_loopback(_name_of(host))

    def visitor(self, token: str | None) -> Visitor | None:
        if not self.tokens:
            return Visitor(LOCAL_PERSON.name, LOCAL_PERSON.role, self._signed("csrf"))
        person = self._seats.who_has(token) if token else None
        return None if person is None else Visitor(person.name, person.role, self._signed(f"csrf {token}"))

    def _signed(self, text: str) -> str:
        return hmac.new(self._secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def origin_is_own(origin: str, host: str) -> bool:
    """Whether a request was sent by a page of this server."""
    try:
        return urlsplit(origin).netloc.lower() == host.lower() != ""
    except ValueError:
        return False


def visitor(request: Request) -> Visitor:
    found: Visitor = request.scope["visitor"]
    return found


def admin(asking: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    if asking.role != "admin":
        raise HTTPException(403, "This page is for the admin of the project.")
    return asking


def genuine(
    asking: Annotated[Visitor, Depends(visitor)],
    csrf: Annotated[str, Form(max_length=200)] = "",
    x_csrf_token: Annotated[str, Header(max_length=200)] = "",
) -> Visitor:
    """A form of ours, filled in by the person it was made for."""
    if not hmac.compare_digest((x_csrf_token or csrf).encode("utf-8", "surrogatepass"), asking.csrf.encode()):
        raise HTTPException(403, "This form was not made for you, or is too old. Load the page again.")
    return asking


def genuine_admin(asking: Annotated[Visitor, Depends(genuine)]) -> Visitor:
    return admin(asking)


def _name_of(host: str) -> str:
    """Without port and brackets."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _kept_secret(database: Database) -> bytes:
    """Made once per project: forms outlive a restart of the server."""
    with database.transaction() as connection:
        connection.execute("INSERT OR IGNORE INTO facts (name, value) VALUES (?, ?)", (_SECRET, secrets.token_hex(32)))
    return bytes.fromhex(str(database.fact(_SECRET)))
