"""``labelsieve serve``."""

from __future__ import annotations

import argparse
import ipaddress
import socket
from contextlib import suppress

import uvicorn

from labelsieve.errors import ConfigurationError, ProjectError
from labelsieve.project import Project
from labelsieve.store.lock import held
from labelsieve.store.seats import Role, Seats
from labelsieve.web.access import is_loopback
from labelsieve.web.app import create_app

SERVER_LOCK = "serve.lock"
_LONGEST_NAME = 60
_THINKING_SECONDS = 120
"""A connection stays open while somebody thinks about an item."""


def serve(arguments: argparse.Namespace) -> int:
    local = is_loopback(arguments.host)
    annotators = _names(arguments.people)
    with Project(arguments.folder) as project, held(project.folder / SERVER_LOCK, "labelsieve serve"):
        door = _open_door(arguments.host, arguments.port)
        given, tokens = _tokens(Seats(project.database), annotators, arguments.admin, local)
        app = create_app(arguments.folder, tokens=tokens)
        address = f"http://{_in_address(arguments.host)}:{door.getsockname()[1]}"
        print(f"serving {arguments.folder} at {address} (end with Ctrl+C)", flush=True)
        for name, role, token in given:
            print(f"{role} {name}: {address}/enter?token={token}")
        if given:
            print("Each link is for one person and is shown this once; --people NAME makes a new one.", flush=True)
        # No log of addresses: they would keep the tokens of the links.
        with suppress(KeyboardInterrupt):  # the way to end it
            settings = uvicorn.Config(app, access_log=False, log_level="warning", timeout_keep_alive=_THINKING_SECONDS)
            uvicorn.Server(settings).run(sockets=[door])
    return 0


def _open_door(host: str, port: int) -> socket.socket:
    """Opened before anything is said or made: the port may be taken."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"Nothing can be served at {host}, port {port}: {error}. Choose others with --host and --port."
        ) from None


def _tokens(
    seats: Seats, annotators: list[str], admin: str | None, local: bool
) -> tuple[list[tuple[str, Role, str]], bool]:
    """New tokens, and whether everybody needs one: unless only this machine gets in and nobody was ever given one."""
    known = seats.people()
    if local and not annotators and admin is None and not known:
        return [], False
    wanted: dict[str, Role] = dict.fromkeys(annotators, "annotator")
    if admin is not None or not any(person.role == "admin" for person in known):
        wanted[_names(admin or "admin")[0]] = "admin"
    return [(name, role, seats.give_token(name, role)) for name, role in wanted.items()], True


def _names(text: str | None) -> list[str]:
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if len(name) > _LONGEST_NAME or not name.isprintable():
            raise ProjectError(f"A name has at most {_LONGEST_NAME} letters that can be shown; got {name!r}.")
    return names


def _in_address(host: str) -> str:
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        return host
