"""The dashboard, the review page and the machine's turns."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from labelsieve.engine.entries import Answered, MachineLabelled
from labelsieve.project import Project
from labelsieve.project.project import STOP_REASON
from labelsieve.store.database import Database
from labelsieve.store.journal import journalled
from labelsieve.store.reviews import Review, Reviews
from tests.web.conftest import csrf_of, row_of, token_for
from tests.web.projects import CLASSES, made, points

ClientOf = Callable[..., TestClient]
PAGE = {"HX-Request": "true"}
REAL_RUN = (sys.executable, "-m", "labelsieve", "run")


def version_of(page: str) -> str:
    found = re.search(r'name="version" value="(\d+)"', page)
    assert found
    return found[1]


def finished(folder: Path) -> Path:
    """All that was asked is answered, and the run has ended."""
    with Database(folder / "project.sqlite") as database:
        ledger = journalled(database)
        rows = ledger.state.pending()
        ledger.append(Answered(rows, rows * 0, "people"))
        database.keep_fact(STOP_REASON, "the budget is spent")
    return folder


def reviews(folder: Path) -> dict[int, Review]:
    with Database(folder / "project.sqlite") as database:
        return Reviews(database).latest()


class TestReview:
    def test_least_sure_first_filtered_and_paged(self, tmp_path: Path, client_of: ClientOf) -> None:
        texts = [f"text number {row}." for row in range(140)]
        client = client_of(made(tmp_path / "p", texts, asked=[0], machine=range(10, 130)))
        page = client.get("/review").text
        assert page.count('class="excerpt"') == 50
        assert page.index("text number 10.") < page.index("text number 11.")
        assert "page 1 of 3" in page
        assert client.get("/review", params={"page": 3}).text.count('class="excerpt"') == 20
        assert client.get("/review", params={"page": 99}).text.count('class="excerpt"') == 20
        assert client.get("/review", params={"label": "food"}).text.count('class="excerpt"') == 40
        assert "Nothing is left" in client.get("/review", params={"round": 7}).text
        assert "Nothing is left" in client.get("/review", params={"label": "drinks"}).text

    def test_accept_in_bulk_and_correct_one(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        csrf = csrf_of(client)
        done = client.post("/review/accept", data={"row": ["20", "21"], "csrf": csrf, "show": "open"})
        assert done.status_code == 303
        page = client.get(done.headers["location"]).text
        assert "text number 20" not in page
        assert "text number 22" in page
        right = CLASSES[(22 + 1) % 3]
        assert client.post("/review/correct", data={"row": 22, "correction": right, "csrf": csrf}).status_code == 303
        own = CLASSES[23 % 3]
        assert client.post("/review/correct", data={"row": 23, "correction": own, "csrf": csrf}).status_code == 303
        kept = reviews(folder)
        assert {row: review.label for row, review in kept.items()} == {20: None, 21: None, 22: right, 23: None}
        assert {review.annotator for review in kept.values()} == {"you"}
        everything = client.get("/review", params={"show": "all"}).text
        assert f"<s><bdi>{CLASSES[22 % 3]}</bdi></s>" in everything

    def test_accept_all_that_match(self, tmp_path: Path, client_of: ClientOf) -> None:
        texts = [f"text number {row}." for row in range(200)]
        folder = made(tmp_path / "p", texts, asked=[0], machine=range(10, 190))
        client = client_of(folder)
        csrf = csrf_of(client)
        food = [row for row in range(10, 190) if CLASSES[row % 3] == "food"]
        corrected = {"row": food[-1], "correction": "travel", "csrf": csrf}
        assert client.post("/review/correct", data=corrected).status_code == 303
        page = client.get("/review", params={"label": "food", "show": "all"}).text
        assert f"{len(food)} labels in this choice" in page
        assert f"Yes, accept {len(food) - 1} labels" in page
        sent = {"label": "food", "show": "all", "version": version_of(page), "csrf": csrf}
        assert client.post("/review/accept-matching", data=sent).status_code == 303
        kept = reviews(folder)
        assert sorted(kept) == food
        assert kept[food[-1]].label == "travel"
        assert {kept[row].label for row in food[:-1]} == {None}
        after = client.get("/review", params={"label": "food", "show": "all"}).text
        assert "Accept all" not in after
        assert "/review/accept-matching" in client.get("/review").text

    def test_what_came_after_the_page_is_not_accepted(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        csrf = csrf_of(client)
        seen = client.app.state.room.desk.version
        with Database(folder / "project.sqlite") as database:
            late = np.array([18, 19])
            journalled(database).append(MachineLabelled(1, late, late % 3, late / 20, late * 0 + 0.8, "later"))
        client.get("/label")
        refused = client.post("/review/accept-matching", data={"version": seen, "csrf": csrf})
        assert refused.status_code == 409
        assert not reviews(folder)

    def test_accepting_a_page_leaves_corrections_alone(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        sent = {"row": 20, "correction": CLASSES[(20 + 1) % 3], "csrf": csrf_of(client)}
        client.post("/review/correct", data=sent)
        page = client.get("/review", params={"show": "all"}).text
        (form,) = re.findall(r"<form[^>]*>(?:(?!</form>).)*Accept all 9 on this page", page, flags=re.DOTALL)
        rows = [int(row) for row in re.findall(r'name="row" value="(\d+)"', form)]
        assert rows == list(range(21, 30))

    def test_only_machine_labels(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        csrf = csrf_of(client)
        for page, sent in (
            ("accept", {"row": ["20", "3"]}),
            ("correct", {"row": 3, "correction": "food"}),
            ("correct", {"row": 20, "correction": "drinks"}),
        ):
            assert client.post(f"/review/{page}", data={**sent, "csrf": csrf}).status_code == 422, sent
        assert not reviews(folder)

    def test_nothing_ticked_leads_back_with_a_sentence(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        sent = {"label": "food", "show": "all", "csrf": csrf_of(client)}
        done = client.post("/review/accept", data=sent)
        assert done.status_code == 303
        page = client.get(done.headers["location"])
        assert page.status_code == 200
        assert "Nothing was ticked, so nothing was accepted." in page.text
        assert '<option value="food" selected>' in page.text
        assert "Nothing was ticked" not in client.get("/review").text
        assert not reviews(folder)

    def test_browsers_are_told_in_words_what_programs_are_told_in_json(self, folder: Path, client_of: ClientOf) -> None:
        client = client_of(folder)
        page = client.get("/review", params={"page": "none"}, headers={"accept": "text/html"})
        assert page.status_code == 422
        assert "cannot use (page)" in page.text
        assert client.get("/review", params={"page": "none"}).json()["detail"][0]["loc"] == ["query", "page"]

    def test_all_of_a_text_is_there_to_be_opened(self, tmp_path: Path, client_of: ClientOf) -> None:
        texts = ["asked", "short", "word " * 1000 + "end", "x" * 20_100, "1\n2\n3\n4\n5"]
        page = client_of(made(tmp_path / "p", texts, asked=[0], machine=range(1, 5))).get("/review").text
        assert page.count('<details class="whole">') == 3
        assert "word end<" in page
        assert "… (100 characters more)<" in page


class TestTheEnd:
    def test_admins_are_told_what_to_do_next(self, tmp_path: Path, client_of: ClientOf) -> None:
        folder = finished(made(tmp_path / "my project", ["one", "two"], asked=[0]))
        boss = client_of(folder, token_for(folder, "boss", "admin"))
        page = boss.get("/label").text
        assert "Done" in page
        assert "because the budget is spent" in page
        assert f"labelsieve export &#39;{folder}&#39; --out labels.csv" in page
        ann = TestClient(boss.app, base_url="http://localhost", follow_redirects=False)
        ann.get("/enter", params={"token": token_for(folder, "ann")})
        page = ann.get("/label").text
        assert "Done" in page
        assert str(folder) not in page
        assert "/dashboard" not in page

    def test_a_run_that_labelled_nothing_is_not_praised(self, tmp_path: Path, client_of: ClientOf) -> None:
        folder = finished(made(tmp_path / "p", ["one", "two"], asked=[0]))
        page = client_of(folder).get("/label").text
        assert "Done, but the machine labelled nothing" in page
        assert f"--answers-from {folder}<" in page
        assert "machine labels, or take all" not in page
        labelled = finished(made(tmp_path / "q", ["one", "two"], asked=[0], machine=[1]))
        page = client_of(labelled).get("/label").text
        assert "Done. Thank you!" in page
        assert '<a href="/review">review</a> machine labels' in page


class TestDashboard:
    def test_before_anything_has_run(self, tmp_path: Path, client_of: ClientOf) -> None:
        client = client_of(made(tmp_path / "p", ["one", "two"]))
        assert client.get("/dashboard").status_code == client.get("/review").status_code == 200
        page = client.get("/label").text
        assert "Preparing the items" in page
        assert "All labels of this batch" not in page
        assert "The items are being prepared" in client.get("/dashboard").text

    def test_a_batch_under_way(self, folder: Path, client_of: ClientOf) -> None:
        page = client_of(folder).get("/dashboard").text
        assert "People are labelling. <b>0</b> of 12 labels of this batch are there." in page

    def test_an_end_without_machine_labels_is_explained(self, tmp_path: Path, client_of: ClientOf) -> None:
        folder = finished(made(tmp_path / "p", ["one", "two", "three"], asked=[0]))
        page = client_of(folder).get("/dashboard").text
        assert "It ended because the budget is spent. Left without a label: 2 items." in page
        assert "nothing was labelled by machine" in page
        assert "Certified" not in page

    def test_people_and_disagreements(self, tmp_path: Path, client_of: ClientOf) -> None:
        folder = made(tmp_path / "p", ["one", "two", "three"], asked=[0, 1], overlap=2)
        ann = client_of(folder, token_for(folder, "ann"))
        boss = TestClient(ann.app, base_url="http://localhost", follow_redirects=False)
        boss.get("/enter", params={"token": token_for(folder, "boss", "admin")})
        for client, labels in ((ann, ("food", "food")), (boss, ("travel", "food"))):
            for row, label in enumerate(labels):
                sent = {"row": row, "label": label, "csrf": csrf_of(client)}
                assert client.post("/label/answer", data=sent, headers=PAGE).status_code == 200
        page = boss.get("/dashboard").text
        assert "i00000" in page
        assert "i00001" not in page
        assert "50% of pairs of answers agree, on 2 items; Cohen&#39;s kappa 0.00" in page
        assert 'data-state="others"' in ann.get("/label").text  # a third person has to decide


class TestRounds:
    def test_a_batch_after_the_other_to_the_end(self, tmp_path: Path, client_of: ClientOf) -> None:
        texts = [f"text number {row}" for row in range(400)]
        folder = made(tmp_path / "p", texts)
        truth = points(400)[1]
        client = client_of(folder, run_command=(*REAL_RUN, str(folder)), pause=0.1)
        csrf, labelled, waited = None, 0, 0.0
        while waited < 90:
            page = client.get("/label").text
            if 'data-state="done"' in page:
                break
            if 'data-state="question"' not in page:
                assert 'data-state="stuck"' not in page, page
                time.sleep(0.2)
                waited += 0.2
                continue
            csrf = csrf or csrf_of(client)
            while 'name="row"' in page:
                sent = {"row": row_of(page), "label": CLASSES[truth[row_of(page)]], "csrf": csrf}
                page = client.post("/label/answer", data=sent, headers=PAGE).text
                labelled += 1
        assert labelled == 30 + 150
        dashboard = client.get("/dashboard").text
        assert "Finished" in dashboard
        assert "Certified" in dashboard
        assert "/dashboard/scores/light/" in dashboard
        for scheme in ("light", "dark"):
            picture = client.get(f"/dashboard/scores/{scheme}/0")
            assert picture.headers["content-type"] == "image/svg+xml"
            assert picture.content.startswith(b"<?xml")
        with Project(folder) as project:
            assert project.status().machine_labels > 200
            labels = project.so_far().labels
        machine = labels[labels["source"] == "machine"]
        wrong = [
            CLASSES[truth[int(id_[1:])]] != label for id_, label in zip(machine["id"], machine["label"], strict=True)
        ]
        assert np.mean(wrong) <= 0.05

    def test_a_failure_is_told_to_admins_in_plain_words(self, tmp_path: Path, client_of: ClientOf) -> None:
        folder = made(tmp_path / "p", ["one", "two"])
        says = "import sys; sys.stderr.write('labelsieve: error: The <disk> is full.'); sys.exit(2)"
        boss = client_of(folder, token_for(folder, "boss", "admin"), run_command=(sys.executable, "-c", says))
        ann = TestClient(boss.app, base_url="http://localhost", follow_redirects=False)
        ann.get("/enter", params={"token": token_for(folder, "ann")})
        for _ in range(100):
            page = boss.get("/label").text
            if 'data-state="stuck"' in page:
                break
            time.sleep(0.1)
        assert "The &lt;disk&gt; is full." in page
        assert "is full" not in ann.get("/label").text
        assert "tell the admin" in ann.get("/label").text
        assert "is full" in boss.get("/dashboard").text
        assert boss.post("/rounds/again", data={"csrf": csrf_of(boss)}).status_code == 303
        assert 'data-state="preparing"' in boss.get("/label").text

    def test_how_far_preparing_is_can_be_seen(self, tmp_path: Path, client_of: ClientOf) -> None:
        says = (
            "import time; from labelsieve.cli.feature_bars import FeatureBars; bars = FeatureBars()\n"
            "bars.show('reading', 0, 4); bars.show('reading', 1, 4)\n"
            "time.sleep(2.1); bars.show('reading', 3, 4); time.sleep(60)"
        )
        client = client_of(made(tmp_path / "p", ["one", "two"]), run_command=(sys.executable, "-c", says))
        seen: list[str] = []
        for _ in range(150):
            page = client.get("/label").text
            seen += [step for step in re.findall(r"<p class=\"none\">(reading[^<]*)<", page) if step not in seen]
            if len(seen) == 2:
                break
            time.sleep(0.1)
        assert seen == ["reading …", "reading … 75%"]
        same = {"state": "preparing", "doing": seen[-1]}
        assert client.get("/label/desk", params=same).status_code == 204
        assert client.get("/label/desk", params={**same, "doing": seen[0]}).status_code == 200

    def test_it_ends_with_the_server(self, tmp_path: Path) -> None:
        from labelsieve.web.app import create_app

        folder = made(tmp_path / "p", ["one", "two"])
        app = create_app(folder, tokens=False, run_command=("sleep", "600"))
        with TestClient(app, base_url="http://localhost"):
            rounds = app.state.room.rounds
            for _ in range(100):
                if rounds.at_work:
                    break
                time.sleep(0.05)
            process = rounds._process
            assert process.poll() is None
        assert process.poll() is not None

    def test_not_while_another_process_works(self, tmp_path: Path, client_of: ClientOf) -> None:
        from labelsieve.store.lock import held

        folder = made(tmp_path / "p", ["one", "two"])
        with held(folder / "project.lock", "labelsieve run"):
            client = client_of(folder, run_command=("false",))
            time.sleep(1.2)
            assert 'data-state="preparing"' in client.get("/label").text


@pytest.mark.parametrize("label", ["food", "animals"])
def test_an_answer_survives_undo_while_the_machine_works(tmp_path: Path, client_of: ClientOf, label: str) -> None:
    folder = made(tmp_path / "p", ["one", "two"], asked=[0])
    client = client_of(folder, run_command=("sleep", "30"), pause=0.0)
    csrf = csrf_of(client)
    client.post("/label/answer", data={"row": 0, "label": label, "csrf": csrf}, headers=PAGE)
    time.sleep(1.2)
    assert "nothing to take back" not in client.get("/label").text
    client.post("/label/undo", data={"csrf": csrf}, headers=PAGE)
    with Project(folder) as project:
        assert project.answers.table()["label"].tolist() == [label]
