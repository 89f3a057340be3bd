"""Every request passes here first: its host, its size, its sender; every response leaves with the headers that keep
content inert. What is not let in explicitly stays out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelsieve.web.access import Access, origin_is_own

LARGEST_BODY = 64 * 1024
_OPEN = ("/enter", "/static/")
_KEPT_BY_BROWSERS = "public, max-age=31536000, immutable"  # addresses of static files change with their content
_SAFE = ("GET", "HEAD", "OPTIONS")
_HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with "no-referrer", browsers hide the origin of our own forms, too
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
Refusal = Callable[[Scope, int, str], ASGIApp]


class Guard:
    """``refusal`` makes the page that says why."""

    def __init__(self, app: ASGIApp, access: Access, refusal: Refusal) -> None:
        self._app = app
        self._access = access
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sending = _with_headers(send, scope["path"])
        answer, body = self._refused(scope), b""
        if answer is None and scope["method"] not in _SAFE:
            body = await _read(receive)
            if len(body) > LARGEST_BODY:
                answer = self._refusal(scope, 413, _too_large())
        await (answer or self._app)(scope, _replay(body, receive), sending)

    def _refused(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._access.host_is_fine(host):
            return self._refusal(scope, 400, "This server answers to localhost and 127.0.0.1 only.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:20]) > LARGEST_BODY:
            return self._refusal(scope, 413, _too_large())
        if scope["method"] not in _SAFE:
            origin = headers.get("origin")
            if origin is not None and not origin_is_own(origin, host):
                return self._refusal(scope, 403, "This was sent by a page of another site.")
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return self._refusal(scope, 403, "This was sent by a page of another site.")
        scope["visitor"] = self._access.visitor(_cookie(headers, self._access.cookie))
        path: str = scope["path"]
        if scope["visitor"] is None and not (path == _OPEN[0] or path.startswith(_OPEN[1])):
            return self._refusal(scope, 401, "Please open the link you were given: it has your token.")
        return None


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return None if found is None else found.value


async def _read(receive: Receive) -> bytes:
    """The body, or a little more than the largest there may be."""
    body, more = b"", True
    while more and len(body) <= LARGEST_BODY:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _with_headers(send: Send, path: str) -> Callable[[Message], Awaitable[None]]:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            found_static = path.startswith("/static/") and message["status"] == 200
            headers.setdefault("cache-control", _KEPT_BY_BROWSERS if found_static else "no-store")
        await send(message)

    return sending


def _too_large() -> str:
    return f"A request may have {LARGEST_BODY // 1024} kB at most."
