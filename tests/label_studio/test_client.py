"""What can go wrong between here and a Label Studio server."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest

from labelsieve.annotators.label_studio import LabelStudio, UnsureError
from labelsieve.errors import AnnotatorError, ConfigurationError
from tests.label_studio.fake import (
    PERSONAL_TOKEN,
    TOKEN,
    FakeLabelStudio,
    Handler,
    cut_off,
    page,
    reset,
    running,
    slow,
    status,
)

INTERFACE = '<View><Choices name="label" toName="item"><Choice value="a"/><Choice value="b"/></Choices></View>'


@pytest.fixture
def fake() -> Iterator[FakeLabelStudio]:
    with running() as server:
        server.projects[1] = {"id": 1, "parsed_label_config": {"label": {"type": "Choices", "labels": ["a", "b"]}}}
        yield server


def client(fake: FakeLabelStudio, token: str = TOKEN, **settings: float) -> LabelStudio:
    return LabelStudio(fake.url, token, pause=0.01, **{"timeout": 10.0, **settings})  # type: ignore[arg-type]


def test_a_project_with_tasks_over_several_pages(fake: FakeLabelStudio) -> None:
    server = client(fake)
    number = server.make_project("posts", INTERFACE)
    server.add_tasks(number, [{"data": {"item_id": str(k)}} for k in range(1203)])
    assert [task["data"]["item_id"] for task in server.tasks(number)] == [str(k) for k in range(1203)]
    assert fake.requests.count("GET /api/tasks") == 3
    assert list(client(fake).people().values()) == ["ann@example.org", "bob@example.org"]


@pytest.mark.parametrize("failure", [status(500), status(503), status(429), reset, cut_off, page(502)])
def test_reading_is_tried_again(fake: FakeLabelStudio, failure: Callable[[Handler], None]) -> None:
    fake.failures = [failure, failure]
    assert client(fake).interface(1) == {"label": {"type": "Choices", "labels": ["a", "b"]}}
    fake.failures = [failure] * 4
    with pytest.raises(AnnotatorError, match=r"(status|broke off).*tried 4 times"):
        client(fake).interface(1)


@pytest.mark.parametrize("failure", [status(500), reset, cut_off])
def test_a_change_is_not_asked_for_twice(fake: FakeLabelStudio, failure: Callable[[Handler], None]) -> None:
    fake.failures = [failure]
    with pytest.raises(UnsureError, match="not known"):
        client(fake).add_tasks(1, [{"data": {}}])
    assert fake.requests == ["POST /api/projects/1/import"]


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (status(401, {"detail": "Invalid token."}), r"token.*401"),
        (status(403), "token.*403"),
        (page(200), "web page where JSON.*address"),
        (page(404), "web page where JSON.*404"),
        (status(200, b'{"id": 1, '), "something where JSON"),
        (status(200, b"\xff\xfe"), "something where JSON"),
        (status(200, []), "without an interface"),
        (status(200, {"parsed_label_config": None}), "without an interface"),
        (status(302, b"", Location="http://elsewhere.example.org/"), "sends on to 'http://elsewhere.*not sent"),
        (status(400, {"detail": "Validation error", "validation_errors": {"title": ["too long"]}}), "400.*too long"),
    ],
)
def test_what_is_wrong_is_said(fake: FakeLabelStudio, failure: Callable[[Handler], None], message: str) -> None:
    fake.failures = [failure]
    with pytest.raises(AnnotatorError, match=message) as raised:
        client(fake).interface(1)
    assert fake.url in str(raised.value)
    assert TOKEN not in str(raised.value)
    assert len(fake.requests) == 1


def test_no_such_project(fake: FakeLabelStudio) -> None:
    for ask in (lambda: client(fake).interface(7), lambda: list(client(fake).tasks(7))):
        with pytest.raises(AnnotatorError, match="has no project 7"):
            ask()


def test_too_slow(fake: FakeLabelStudio) -> None:
    fake.failures = [slow]
    with pytest.raises(AnnotatorError, match=r"within 0\.2 seconds.*--timeout"):
        client(fake, timeout=0.2).interface(1)
    assert len(fake.requests) == 1


def test_not_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(AnnotatorError, match=r"cannot be reached: Connection refused.*running there.*tried 4 times"):
        LabelStudio(url, TOKEN, pause=0.01).add_tasks(1, [])


def test_a_personal_token_is_changed_for_passes(fake: FakeLabelStudio) -> None:
    server = client(fake, PERSONAL_TOKEN)
    assert server.interface(1)
    assert server.people()
    assert fake.passes == 1
    fake.failures = [status(401)]  # the pass is too old
    assert server.interface(1)
    assert fake.passes == 2
    with pytest.raises(AnnotatorError, match="does not accept the token"):
        client(fake, "not.a.token").interface(1)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8080", "file:///etc", "http://", "http://a:b@c", "http://a:x", "http://a b"]
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ConfigurationError, match="must be like"):
        LabelStudio(url, TOKEN)


@pytest.mark.parametrize("token", ["", " \n", "two words", "one\ntwo", "clé"])
def test_a_token_that_is_none(token: str) -> None:
    with pytest.raises(ConfigurationError, match="token") as raised:
        LabelStudio("http://127.0.0.1:1", token)
    assert not token.strip() or token.strip() not in str(raised.value)
    assert TOKEN not in repr(LabelStudio("http://127.0.0.1:1/", TOKEN))
