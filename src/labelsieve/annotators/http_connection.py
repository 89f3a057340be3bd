"""One request to a web server that speaks JSON, and the reply as it came."""

from __future__ import annotations

import ipaddress
import json
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPErrorProcessor, OpenerDirector, ProxyHandler, Request, build_opener

from labelsieve.errors import AnnotatorError, ConfigurationError


class PassingError(Exception):
    """May be gone a moment later. ``heard``: the server may have got the request."""

    def __init__(self, message: str, *, heard: bool) -> None:
        super().__init__(message)
        self.heard = heard


class Reply(NamedTuple):
    """Whatever its status."""

    status: int
    headers: Any
    content: bytes

    @property
    def is_json(self) -> bool:
        return "json" in (self.headers.get("Content-Type") or "")

    @property
    def is_page(self) -> bool:
        return "html" in (self.headers.get("Content-Type") or "") or self.content.lstrip()[:1] == b"<"


class Connection:
    """To one address."""

    def __init__(self, url: str, timeout: float) -> None:
        self.url = checked_url(url)
        self._timeout = timeout
        self._opener = _opener(self.url)

    def send(self, method: str, path: str, body: Any, authorization: str | None) -> Reply:
        """``PassingError`` if there is no reply, but might be one a moment later."""
        headers = {"Accept": "application/json", "User-Agent": "labelsieve"}
        if authorization is not None:
            headers["Authorization"] = authorization
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(body, allow_nan=False).encode()
        request = Request(self.url + path, content, headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return Reply(response.status, response.headers, response.read())
        except (OSError, HTTPException) as error:
            raise self._trouble(error.reason if isinstance(error, URLError) else error) from None

    def _trouble(self, reason: Any) -> AnnotatorError | PassingError:
        if isinstance(reason, TimeoutError):
            return AnnotatorError(
                f"Label Studio at {self.url} did not answer within {self._timeout:g} seconds. It may be busy: try "
                "again later, or give it longer with --timeout."
            )
        lost = isinstance(reason, (ConnectionResetError, ConnectionAbortedError, BrokenPipeError, HTTPException))
        if lost:
            return PassingError(f"Label Studio at {self.url} broke off the connection.", heard=True)
        why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        return PassingError(f"Label Studio at {self.url} cannot be reached: {why}. Is it running there?", heard=False)


class _AsItCame(HTTPErrorProcessor):
    """No reply raises, and no redirect is followed: the token goes where it was meant to go, and nowhere else."""

    def http_response(self, request: Request, response: Any) -> Any:
        return response

    https_response = http_response


def checked_url(url: str) -> str:
    """Without a slash at its end; anything but a web address raises."""
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.query or parts.fragment or any(map(str.isspace, url.strip())):
        raise ConfigurationError(
            "The address of Label Studio must be like http://127.0.0.1:8080, without a user or a query in it."
        )
    return url.strip().rstrip("/")


def _opener(url: str) -> OpenerDirector:
    """A server on this machine is never asked for through a proxy."""
    host = urlsplit(url).hostname or ""
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    return build_opener(_AsItCame, *([ProxyHandler({})] if is_local else []))
