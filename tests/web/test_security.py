"""One test for each promise."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from labelsieve.cli.main import main
from labelsieve.cli.serve import _tokens
from labelsieve.store.answers import Answers
from labelsieve.store.database import Database
from labelsieve.store.seats import Seats
from labelsieve.web.access import is_loopback
from tests.web.conftest import csrf_of, row_of, token_for
from tests.web.projects import made

ClientOf = Callable[..., TestClient]
PAGES = ("/", "/label", "/label/desk", "/dashboard", "/dashboard/scores/light/0", "/review", "/items/0/image")
ADMIN_PAGES = ("/dashboard", "/dashboard/scores/light/0", "/review")
ADMIN_SENT = ("/review/accept", "/review/accept-matching", "/review/correct", "/rounds/again")
SENT = ("/label/answer", "/label/pass/skip", "/label/undo", *ADMIN_SENT)
FIELDS = {"row": "20", "label": "food", "correction": "food", "version": "0"}


class TestWhoGetsIn:
    def test_nothing_without_a_token(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder, tokens=True)
        for page in (*PAGES, "/openapi.json", "/nowhere"):
            assert client.get(page).status_code == 401, page
        for page in SENT:
            assert client.post(page, data=FIELDS).status_code == 401, page
        for token in ("", "wrong", "x" * 150, "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")):
            assert client.get("/enter", params={"token": token}).status_code == 401
            assert "set-cookie" not in client.get("/enter", params={"token": token}).headers

    def test_a_new_token_voids_the_old(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder, token_for(folder, "ann"))
        assert client.get("/label").status_code == 200
        token_for(folder, "ann")
        assert client.get("/label").status_code == 401

    def test_only_the_digest_of_a_token_is_kept(self, folder: Path) -> None:
        token = token_for(folder, "ann")
        with sqlite3.connect(folder / "project.sqlite") as connection:
            dump = "\n".join(connection.iterdump())
        assert token not in dump
        assert hashlib.sha256(token.encode()).hexdigest() in dump

    def test_the_cookie_is_out_of_reach(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder, tokens=True)
        cookie = client.get("/enter", params={"token": token_for(folder, "ann")}).headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie

    def test_a_link_that_was_taken_away_opens_nothing(
        self, folder: Path, client_of: ClientOf, capsys: pytest.CaptureFixture[str]
    ) -> None:
        ann, bob = (client_of(folder, token_for(folder, name)) for name in ("ann", "bob"))
        row = row_of(ann.get("/label").text)
        sent = {"row": row, "label": "food", "csrf": csrf_of(ann)}
        assert ann.post("/label/answer", data=sent, headers={"HX-Request": "true"}).status_code == 200
        before_her = row_of(ann.get("/label").text)
        assert main(["people", str(folder), "--remove", "ann"]) == 0
        said = capsys.readouterr().out
        assert "ann opens nothing any more" in said
        assert "annotator bob" in said
        assert ann.get("/label").status_code == 401
        sent["row"] = before_her
        assert ann.post("/label/answer", data=sent, headers={"HX-Request": "true"}).status_code == 401
        with Database(folder / "project.sqlite") as database:
            assert Answers(database).table()["annotator"].tolist() == ["ann"]
            assert "ann" not in {lease.annotator for lease in Seats(database).leases()}
        assert bob.get("/label").status_code == 200
        assert main(["people", str(folder), "--remove", "ann"]) == 2
        assert "Links have: bob" in capsys.readouterr().err
        assert main(["people", str(folder), "--remove", "bob"]) == 0
        assert "Nobody has a link" in capsys.readouterr().out

    def test_annotators_cannot_do_what_admins_do(self, folder: Path, client_of: ClientOf) -> None:
        ann = client_of(folder, token_for(folder, "ann"))
        csrf = csrf_of(ann)
        for page in ADMIN_PAGES:
            assert ann.get(page).status_code == 403, page
        for page in ADMIN_SENT:
            assert ann.post(page, data={**FIELDS, "csrf": csrf}).status_code == 403, page
        assert "/dashboard" not in ann.get("/label").text
        boss = client_of(folder, token_for(folder, "boss", "admin"))
        assert boss.get("/dashboard").status_code == boss.get("/review").status_code == 200

    def test_without_tokens_only_a_loopback_name_is_answered(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        for host in ("localhost", "localhost:8000", "127.0.0.1:8000", "[::1]:8000"):
            assert client.get("/label", headers={"host": host}).status_code == 200, host
        for host in ("evil.example", "evil.example:8000", "localhost.evil.example", "10.0.0.5", "", "[", "127.0.0.1@x"):
            assert client.get("/label", headers={"host": host}).status_code == 400, host

    def test_beyond_loopback_everybody_needs_a_token(self, folder: Path) -> None:
        for name, local in (("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("::", False)):
            assert is_loopback(name) == local
        with Database(folder / "project.sqlite") as database:
            seats = Seats(database)
            assert _tokens(seats, [], None, local=True) == ([], False)
            given, needed = _tokens(seats, [], None, local=False)
            assert needed
            assert [(name, role) for name, role, _ in given] == [("admin", "admin")]
            assert _tokens(seats, [], None, local=True) == ([], True)  # somebody was given one
            given, needed = _tokens(seats, ["ann"], None, local=True)
            assert [(name, role) for name, role, _ in given] == [("ann", "annotator")]


class TestForgedRequests:
    def test_every_form_needs_its_token(self, folder: Path, client_of: ClientOf) -> None:
        for client in (client_of(folder), client_of(folder, token_for(folder, "boss", "admin"))):
            for page in SENT:
                for csrf in ({}, {"csrf": "0" * 64}, {"csrf": "é"}):
                    assert client.post(page, data={**FIELDS, **csrf}).status_code == 403, (page, csrf)

    def test_the_token_of_another_person_is_no_good(self, folder: Path, client_of: ClientOf) -> None:
        ann = client_of(folder, token_for(folder, "ann"))
        bob = client_of(folder, token_for(folder, "bob"))
        assert ann.post("/label/undo", data={"csrf": csrf_of(bob)}).status_code == 403
        assert ann.post("/label/undo", headers={"X-CSRF-Token": csrf_of(ann)}).status_code == 303

    def test_a_page_of_another_site_is_refused(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        sent = {"csrf": csrf_of(client)}
        for headers in (
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"origin": "http://localhost:9999"},
            {"origin": "http://["},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ):
            assert client.post("/label/undo", data=sent, headers=headers).status_code == 403, headers
        assert client.post("/label/undo", data=sent, headers={"origin": "http://localhost"}).status_code == 303


class TestWhatIsShown:
    NASTY = (
        '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">',
        "</div></article></section><h1 onclick=alert(1)>out</h1>",
        "{{ 7 * 7 }} {% raw %}",
        "\u202eright to left \u05e9\u05dc\u05d5\u05dd 👩\u200d🚀 \x00\x1b[31m",
        "x" * 500_000,
    )

    def test_texts_ids_classes_and_names_are_inert(self, tmp_path: Path, client_of: ClientOf) -> None:
        classes = ['<b onmouseover="x">a</b>', '"><script>y</script>', "plain"]
        ids = [f"{text[:290]}-{row}" for row, text in enumerate(self.NASTY)]
        folder = made(tmp_path / "<i>p", self.NASTY, classes=classes, asked=[0, 1, 2, 3], machine=[4], ids=ids)
        boss = client_of(folder, token_for(folder, '<u>"boss"', "admin"))
        csrf = csrf_of(boss)
        seen = 0
        while seen < 4:
            page = boss.get("/label").text
            boss.post("/label/answer", data={"row": seen, "label": classes[1], "csrf": csrf})
            for markup in ("<script>", "<img src=x", "<h1 onclick", "<b on", "<u>", "<i>", "\x00"):
                assert markup not in page.replace(self.NASTY[3], ""), markup
            seen += 1
        for page in ("/dashboard", "/review"):
            text = boss.get(page).text
            assert not any(markup in text for markup in ("<script>", "<img src=x", "<h1 onclick", "<b on", "<u>"))
        assert len(boss.get("/review").text) < 50_000

    def test_headers(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        for page in (*PAGES, "/nowhere", "/static/label.js"):
            headers = client.get(page).headers
            policy = headers["content-security-policy"]
            assert "default-src 'self'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            if page.startswith(("/label", "/dash", "/review")):
                assert headers["cache-control"] == "no-store"

    def test_browsers_keep_what_holds_no_data_until_it_changes(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        addresses = re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/label").text)
        assert len(addresses) == 4
        for address in addresses:
            found = client.get(address)
            assert "immutable" in found.headers["cache-control"]
            assert address.endswith("?" + hashlib.sha256(found.content).hexdigest()[:12])
        assert client.get("/static/nothing.js").headers["cache-control"] == "no-store"

    def test_no_scripts_or_styles_in_pages(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        for page in ("/label", "/dashboard", "/review"):
            text = client.get(page).text
            assert " style=" not in text
            assert "<style" not in text
            assert " on" not in "".join(part.split(">")[0] for part in text.split("<button")[1:])
            assert text.count("<script") == text.count("<script src=")
            assert "http://" not in text.replace("http://localhost", "")
            assert "https://" not in text


class TestBounds:
    def test_large_requests_are_refused(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        assert client.post("/label/answer", content=b"x" * 70_000).status_code == 413

        def parts() -> list[bytes]:
            return [b"x" * 10_000] * 8

        assert client.post("/label/answer", content=iter(parts())).status_code == 413

    @pytest.mark.parametrize("row", ["-1", "1e3", str(2**63), str(10**30), "NaN", "", "%00"])
    def test_odd_numbers(self, folder: Path, client_of: ClientOf, row: str) -> None:
        client = client_of(folder)
        sent = {"row": row, "label": "food", "csrf": csrf_of(client)}
        assert client.post("/label/answer", data=sent).status_code == 422
        assert client.get(f"/items/{row}/image").status_code in (404, 422)
        assert client.get("/review", params={"page": row}).status_code == 422


class TestImages:
    def test_no_path_leads_out_of_the_data(self, tmp_path: Path, client_of: ClientOf) -> None:
        pictures = tmp_path / "pictures"
        pictures.mkdir()
        image = Image.fromarray(np.zeros((9, 9), dtype=np.uint8))
        image.save(pictures / "fine.png")
        image.save(pictures / "scan.tif")
        image.save(tmp_path / "secret.png")
        (pictures / "page.png").write_text("<script>alert(1)</script>")
        (pictures / "drawing.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
        (pictures / "link.png").symlink_to(tmp_path / "secret.png")
        (pictures / "folder.png").mkdir()
        named = ["fine.png", "scan.tif", "../secret.png", str(tmp_path / "secret.png"), "link.png", "page.png"]
        named += ["drawing.svg", "folder.png", "missing.png", "a\x00b.png", "x" * 5000, "p/../../secret.png"]
        folder = made(tmp_path / "p", named, kind="image", data=str(pictures), asked=range(len(named) - 1))
        client = client_of(folder, token_for(folder, "boss", "admin"))
        found = [client.get(f"/items/{row}/image") for row in range(len(named) + 1)]
        assert [answer.status_code for answer in found] == [200, 200] + [404] * (len(named) - 1)
        assert [answer.headers["content-type"] for answer in found[:2]] == ["image/png", "image/png"]
        alone = client_of(made(tmp_path / "alone", ["fine.png", "x"], kind="image", data=str(pictures), asked=[0]))
        assert 'class="small"' in alone.get("/label").text
        for way in (
            "/items/..%2f..%2fsecret.png/image",
            "/static/../app.py",
            "/static/..%2fapp.py",
            "/static/%2e%2e/app.py",
        ):
            assert client.get(way).status_code in (404, 422), way
        ann = client_of(folder, token_for(folder, "ann"))
        assert ann.get("/items/0/image").status_code == 200
        assert ann.get(f"/items/{len(named) - 1}/image").status_code == 403  # not asked about

    def test_files_that_are_too_large(
        self, tmp_path: Path, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pictures = tmp_path / "pictures"
        pictures.mkdir()
        Image.fromarray(np.zeros((50, 50), dtype=np.uint8)).save(pictures / "a.png")
        client = client_of(made(tmp_path / "p", ["a.png", "a.png"], kind="image", data=str(pictures), asked=[0]))
        assert client.get("/items/0/image").status_code == 200
        monkeypatch.setattr("labelsieve.web.items._MOST_PIXELS", 100)
        assert client.get("/items/0/image").status_code == 404
        monkeypatch.setattr("labelsieve.web.items._MOST_PIXELS", 10_000)
        monkeypatch.setattr("labelsieve.web.items._LARGEST_FILE", 10)
        assert client.get("/items/0/image").status_code == 404
