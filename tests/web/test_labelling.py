"""Labelling through HTTP."""

from __future__ import annotations

import html
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient

from labelsieve.engine.entries import Answered, Asked, Role
from labelsieve.project.project import LOCK_FILE
from labelsieve.store.answers import Answers
from labelsieve.store.database import Database
from labelsieve.store.journal import journalled
from labelsieve.store.lock import held
from labelsieve.web.labelling import class_keys
from tests.web.conftest import csrf_of, row_of, token_for
from tests.web.projects import CLASSES, handed_out, made

PAGE = {"HX-Request": "true"}
UNDO = 'action="/label/undo"'
ClientOf = Callable[..., TestClient]


def answers(folder: Path) -> list[tuple[int, str, str]]:
    with Database(folder / "project.sqlite") as database:
        table = Answers(database).table()
    return list(table[["row", "label", "annotator"]].itertuples(index=False, name=None))


class TestOnePerson:
    def test_an_item_its_classes_and_the_next(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        first, second, *_ = handed_out(folder)
        page = client.get("/label").text
        assert f"text number {first}<" in page
        for name in CLASSES:
            assert f'value="{name}"' in page
        sent = {"row": row_of(page), "label": "food", "csrf": csrf_of(client)}
        after = client.post("/label/answer", data=sent, headers=PAGE)
        assert after.status_code == 200
        assert answers(folder) == [(first, "food", "you")]
        assert f"text number {second}<" in after.text
        assert "<b>1</b> of 12" in after.text
        assert "1 of up to 180 in the project" in after.text
        assert "<html" not in after.text

    def test_without_scripts_the_page_comes_back(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        sent = {"row": 0, "label": "food", "csrf": csrf_of(client)}
        after = client.post("/label/answer", data=sent)
        assert after.status_code == 303
        assert after.headers["location"] == "/label"

    def test_sent_twice_is_kept_once(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        sent = {"row": 0, "label": "food", "csrf": csrf_of(client)}
        for _ in range(2):
            assert client.post("/label/answer", data=sent, headers=PAGE).status_code == 200
        assert answers(folder) == [(0, "food", "you")]

    def test_undo_skip_and_not_sure(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        csrf = csrf_of(client)
        skipped, unsure, *others = handed_out(folder)
        client.post("/label/answer", data={"row": skipped, "label": "food", "csrf": csrf}, headers=PAGE)
        again = client.post("/label/undo", data={"csrf": csrf}, headers=PAGE).text
        assert row_of(again) == skipped
        assert answers(folder) == []
        assert "nothing to take back" in client.post("/label/undo", data={"csrf": csrf}, headers=PAGE).text
        after = client.post("/label/pass/skip", data={"row": skipped, "csrf": csrf}, headers=PAGE).text
        assert row_of(after) == unsure
        after = client.post("/label/pass/not-sure", data={"row": unsure, "csrf": csrf}, headers=PAGE).text
        for row in others:
            assert row_of(after) == row
            after = client.post("/label/answer", data={"row": row, "label": "food", "csrf": csrf}, headers=PAGE).text
        assert row_of(after) == skipped
        assert "You skipped this one before" in after
        after = client.post("/label/answer", data={"row": skipped, "label": "food", "csrf": csrf}, headers=PAGE).text
        assert row_of(after) == unsure
        assert "You were not sure" in after

    def test_more_classes_than_numbers(self, tmp_path: Path, client_of: ClientOf) -> None:
        classes = [f"class {number}" for number in range(40)]
        client = client_of(made(tmp_path / "p", ["one", "two"], classes=classes, asked=[0, 1]))
        sent = {"row": 0, "label": "class 39", "csrf": csrf_of(client)}
        page = client.post("/label/answer", data=sent, headers=PAGE).text
        assert page.count('name="label"') == 40
        keys = {part.split('"')[0] for part in page.split('data-key="')[1:]}
        assert len(keys) == page.count("data-key=") == 9 + 23 + 3

    def test_an_answer_that_is_no_class_is_refused(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        sent = {"row": 0, "label": "drinks", "csrf": csrf_of(client)}
        assert client.post("/label/answer", data=sent, headers=PAGE).status_code == 422
        assert answers(folder) == []


class TestSeveralPeople:
    def test_two_at_once_never_get_the_same(self, folder: Path, client_of: ClientOf) -> None:
        tokens = {name: token_for(folder, name) for name in ("ann", "bob", "cid")}
        first = client_of(folder, tokens["ann"])
        shown: dict[str, list[int]] = {name: [] for name in tokens}

        def label(name: str) -> None:
            client = TestClient(first.app, base_url="http://localhost", follow_redirects=False)
            client.get("/enter", params={"token": tokens[name]})
            page = client.get("/label").text
            csrf = csrf_of(client)
            while 'name="row"' in page:
                shown[name].append(row_of(page))
                sent = {"row": row_of(page), "label": "food", "csrf": csrf}
                page = client.post("/label/answer", data=sent, headers=PAGE).text

        threads = [threading.Thread(target=label, args=(name,)) for name in tokens]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        everything = [row for rows in shown.values() for row in rows]
        assert sorted(everything) == list(range(12))
        assert sorted(row for row, _, _ in answers(folder)) == list(range(12))

    def test_an_answer_that_came_too_late_is_not_kept(self, folder: Path, client_of: ClientOf) -> None:
        ann = client_of(folder, token_for(folder, "ann"), lease_seconds=0.0)
        bob = TestClient(ann.app, base_url="http://localhost", follow_redirects=False)
        bob.get("/enter", params={"token": token_for(folder, "bob")})
        csrf, other = csrf_of(ann), csrf_of(bob)
        bob.post("/label/answer", data={"row": 0, "label": "food", "csrf": other}, headers=PAGE)
        after = ann.post("/label/answer", data={"row": 0, "label": "travel", "csrf": csrf}, headers=PAGE).text
        assert "Nobody needs an answer" in after
        assert answers(folder) == [(0, "food", "bob")]


class TestUndoIsOffered:
    """Only while it can do something."""

    def test_from_the_first_answer_to_the_last_one_taken_back(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        csrf = csrf_of(client)
        assert UNDO not in client.get("/label").text
        sent = {"row": 0, "label": "food", "csrf": csrf}
        assert UNDO in client.post("/label/answer", data=sent, headers=PAGE).text
        assert UNDO in client.get("/label").text
        assert UNDO not in client.post("/label/undo", data={"csrf": csrf}, headers=PAGE).text

    def test_not_for_answers_of_others(self, folder: Path, client_of: ClientOf) -> None:
        ann = client_of(folder, token_for(folder, "ann"))
        bob = TestClient(ann.app, base_url="http://localhost", follow_redirects=False)
        bob.get("/enter", params={"token": token_for(folder, "bob")})
        ann.post("/label/answer", data={"row": 0, "label": "food", "csrf": csrf_of(ann)}, headers=PAGE)
        assert UNDO in ann.get("/label").text
        assert UNDO not in bob.get("/label").text

    def test_not_in_the_next_batch(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        csrf = csrf_of(client)
        for row in range(12):
            client.post("/label/answer", data={"row": row, "label": "food", "csrf": csrf}, headers=PAGE)
        with Database(folder / "project.sqlite") as database:
            rows = np.arange(12)
            journalled(database).append(
                Answered(rows, rows * 0, "people"),
                Asked(2, Role.TRAIN, rows[:8] + 12, np.full(8, 0.5)),
            )
        page = client.get("/label").text
        assert row_of(page) == handed_out(folder)[0] >= 12
        assert "12 in all" in page
        assert "<b>0</b> of 8 in this batch; 12 of up to 180 in the project" in page
        assert UNDO not in page

    def test_a_waiting_page_takes_it_away_when_the_machine_begins(self, tmp_path: Path, client_of: ClientOf) -> None:
        folder = made(tmp_path / "p", ["one", "two"], asked=[0])
        client = client_of(folder, run_command=("sleep", "60"), pause=0.0)
        with held(folder / LOCK_FILE, "keeping the machine from its turn"):
            sent = {"row": 0, "label": "food", "csrf": csrf_of(client)}
            page = client.post("/label/answer", data=sent, headers=PAGE).text
            (again,) = re.findall(r'hx-get="([^"]+)"', page)
            polled = html.unescape(again)
            assert 'data-state="machine"' in page
            assert UNDO in page
            assert client.get(polled).status_code == 204
        after = client.get(polled)
        for _ in range(100):
            if after.status_code != 204:
                break
            time.sleep(0.05)
            after = client.get(polled)
        assert 'data-state="machine"' in after.text
        assert UNDO not in after.text


class TestWaiting:
    def test_others_have_the_last_items(self, tmp_path: Path, client_of: ClientOf) -> None:
        folder = made(tmp_path / "p", ["one", "two"], asked=[0])
        ann = client_of(folder, token_for(folder, "ann"))
        bob = TestClient(ann.app, base_url="http://localhost", follow_redirects=False)
        bob.get("/enter", params={"token": token_for(folder, "bob")})
        assert 'data-state="question"' in ann.get("/label").text
        assert 'data-state="others"' in bob.get("/label").text
        assert bob.get("/label/desk", params={"state": "others"}).status_code == 204
        assert bob.get("/label/desk", params={"state": "machine"}).status_code == 200

    def test_a_complete_batch_is_the_machines(self, tmp_path: Path, client_of: ClientOf) -> None:
        client = client_of(made(tmp_path / "p", ["one", "two"], asked=[0]))
        sent = {"row": 0, "label": "food", "csrf": csrf_of(client)}
        after = client.post("/label/answer", data=sent, headers=PAGE).text
        assert "The machine is learning" in after
        assert 'hx-trigger="every' in after


def test_keys_of_classes() -> None:
    assert class_keys(["cat", "dog"]) == [("cat", "1"), ("dog", "2")]
    assert class_keys(["0", "1", "9"]) == [("0", "0"), ("1", "1"), ("9", "9")]
    keys = [key for _, key in class_keys([f"class {number}" for number in range(40)])]
    assert len({*keys}) == 33  # 9 digits, 26 letters less skip, undo and not sure, and none for the rest
