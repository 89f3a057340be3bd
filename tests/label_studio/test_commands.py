"""``labelsieve label-studio`` against a server that is not a real one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labelsieve.cli.main import main
from labelsieve.project import Project
from labelsieve.project.label_studio_tasks import in_parts, tasks_of
from tests.label_studio.fake import TOKEN, FakeLabelStudio, Handler, page, reset, running, status
from tests.label_studio.projects import CLASSES, make_project, studio, write_posts

Said = pytest.CaptureFixture[str]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLabelStudio]:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with running() as server:
        yield server


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A project that has asked its first question, and what is right."""
    place = tmp_path_factory.mktemp("fresh")
    truth = write_posts(place / "posts.csv")
    return make_project(place / "project", place / "posts.csv"), truth


@pytest.fixture
def folder(tmp_path: Path, fresh: tuple[Path, dict[str, str]]) -> Path:
    return Path(shutil.copytree(fresh[0], tmp_path / "project"))


def asked(folder: Path) -> list[str]:
    with Project(folder) as project:
        return list(project.questions()["id"])


def answers(folder: Path) -> list[tuple[str, str, str]]:
    with Project(folder) as project:
        ids = project.items.ids()
        table = project.answers.table()
        return [(str(ids[row]), label, who) for row, label, who in table[["row", "label", "annotator"]].to_numpy()]


def test_there_and_back(fake: FakeLabelStudio, folder: Path, capsys: Said) -> None:
    ids = asked(folder)
    assert studio("push", folder, "--url", fake.url + "/", "--create", "posts") == 0
    assert f"sent {len(ids)} tasks to project 1" in capsys.readouterr().out
    assert [task["data"]["item_id"] for task in fake.tasks] == ids
    assert studio("push", folder) == 0  # it remembers where
    assert f"sent 0 tasks to project 1 at {fake.url}; {len(ids)} were there" in capsys.readouterr().out
    fake.annotate(ids[0], "animals", 1)
    fake.annotate(ids[0], "food & drink", 2)
    fake.annotate(ids[1], "animals", 2, was_cancelled=True)
    fake.annotate(ids[2], "animals", 9)  # nobody knows them any more
    fake.annotate(ids[3], "animals", 1)
    fake.annotate(ids[3], "food & drink", 1)
    assert studio("pull", folder) == 0
    assert "kept 4 new answers, 0 changed ones; 0 were known\n" in capsys.readouterr().out
    assert set(answers(folder)) == {
        (ids[0], "animals", "ann@example.org"),
        (ids[0], "food & drink", "bob@example.org"),
        (ids[2], "animals", "9"),
        (ids[3], "food & drink", "ann@example.org"),
    }
    fake.tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["food & drink"]
    fake.tasks.append({"id": 7, "data": {"text": "somebody else's"}, "annotations": [{"result": []}]})
    assert studio("pull", folder) == 0
    assert "kept 0 new answers, 1 changed ones; 3 were known, and 1 annotations are about" in capsys.readouterr().out
    assert (ids[0], "food & drink", "ann@example.org") in answers(folder)


@pytest.mark.parametrize("arrives", [True, False])
def test_a_connection_that_is_lost_while_sending(fake: FakeLabelStudio, folder: Path, arrives: bool) -> None:
    def lost(handler: Handler) -> None:
        if arrives:
            fake.tasks += [{"id": 1, "annotations": [], **task} for task in sent]
        reset(handler)

    with Project(folder) as project:
        sent = tasks_of(project)
    fake.projects[1] = {"id": 1, "parsed_label_config": {"label": {"type": "Choices", "labels": list(CLASSES)}}}
    good = Handler.serve
    times = []

    def first_import_fails(handler: Handler, path: str, body: object) -> None:
        if path.endswith("/import") and not times:
            times.append(path)
            return lost(handler)
        return good(handler, path, body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Handler, "serve", first_import_fails)
        assert studio("push", folder, "--url", fake.url, "--project", 1) == 0
    assert sorted(task["data"]["item_id"] for task in fake.tasks) == sorted(asked(folder))


def test_a_push_that_was_cut_off_goes_on(
    fake: FakeLabelStudio, folder: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelsieve.project.label_studio_tasks._TASKS_AT_ONCE", 5)
    ids = asked(folder)
    good = Handler.serve

    def full_after_five(handler: Handler, path: str, body: object) -> None:
        if path.endswith("/import") and fake.tasks:
            return handler.answer(507, {"detail": "The disk is full."})
        return good(handler, path, body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Handler, "serve", full_after_five)
        assert studio("push", folder, "--url", fake.url, "--create", "posts") == 2
    assert "507): The disk is full." in capsys.readouterr().err
    assert studio("push", folder) == 0
    assert f"sent {len(ids) - 5} tasks to project 1 at {fake.url}; 5 were" in capsys.readouterr().out
    assert [task["data"]["item_id"] for task in fake.tasks] == ids


def test_parts_are_not_too_large() -> None:
    large, small = {"data": {"image": "x" * 5 * 2**20}}, {"data": {"text": "x"}}
    assert list(map(len, in_parts([large, large, small, *[small] * 1100]))) == [1, 500, 500, 102]


@pytest.mark.parametrize(
    ("failures", "message"),
    [
        ([status(401)], "does not accept the token"),
        ([page()], "web page"),
        ([status(200, b"{")], "where JSON was expected"),
        ([reset] * 4, "broke off"),
        ([status(500)] * 4, "status 500"),
    ],
)
def test_nothing_is_kept_of_a_pull_that_fails(
    fake: FakeLabelStudio, folder: Path, capsys: Said, failures: list[Callable[[Handler], None]], message: str
) -> None:
    assert studio("push", folder, "--url", fake.url, "--create", "posts") == 0
    fake.annotate(asked(folder)[0], "animals")
    people_are_known = [lambda handler: handler.serve("/api/users/", None)]
    fake.failures = [*people_are_known, *failures]
    assert studio("pull", folder) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert TOKEN not in said.err + said.out
    assert not answers(folder)
    assert studio("pull", folder) == 0
    assert len(answers(folder)) == 1


def test_unknown_classes_are_refused_by_name(fake: FakeLabelStudio, folder: Path, capsys: Said) -> None:
    assert studio("push", folder, "--url", fake.url, "--create", "posts") == 0
    ids = asked(folder)
    fake.annotate(ids[0], "animals")
    fake.annotate(ids[1], "plants", 2)
    assert studio("pull", folder) == 2
    assert f"task 102 of item '{ids[1]}': 'plants', chosen by bob@example.org" in capsys.readouterr().err
    fake.tasks[1]["annotations"][0]["result"][0]["value"]["choices"] = ["animals", "food & drink"]
    assert studio("pull", folder) == 2
    assert "Task 102 on the server cannot be used, and nothing was kept: one annotation" in capsys.readouterr().err
    assert not answers(folder)


def test_a_project_with_other_choices_gets_no_tasks(fake: FakeLabelStudio, folder: Path, capsys: Said) -> None:
    fake.projects[1] = {"id": 1, "parsed_label_config": {"mood": {"type": "Choices", "labels": ["good", "bad"]}}}
    assert studio("push", folder, "--url", fake.url, "--project", 1) == 2
    assert "must offer the choices animals, food & drink; it offers: bad, good." in capsys.readouterr().err
    assert studio("push", folder, "--url", fake.url, "--project", 2) == 2
    assert "has no project 2" in capsys.readouterr().err
    assert not fake.tasks
    with Project(folder) as project:
        assert project.database.fact("label studio") is None


def test_what_must_be_said(folder: Path, tmp_path: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    url = "http://127.0.0.1:1"
    for more, message in (
        (["push"], "--url"),
        (["pull", "--url", url], "LABEL_STUDIO_API_KEY"),
        (["pull", "--url", url, "--token-file", tmp_path / "none"], "there is no "),
        (["push", "--url", "ftp://x", "--token-file", tmp_path / "token"], "must be like"),
        (["push", "--url", url, "--token-file", tmp_path / "token"], "--project ID"),
        (["push", "--url", url, "--token-file", tmp_path / "token", "--timeout", 0], "--timeout"),
        (["push", "--url", url, "--token-file", tmp_path / "token", "--machine-labels"], "--create TITLE"),
    ):
        (tmp_path / "token").write_text(f"{TOKEN}\n")
        assert studio(more[0], folder, *more[1:]) == 2
        said = capsys.readouterr().err
        assert message in said
        assert TOKEN not in said


def test_files_in_place_of_a_server(folder: Path, tmp_path: Path, capsys: Said) -> None:
    out, interface, back = tmp_path / "tasks.json", tmp_path / "interface.xml", tmp_path / "back.json"
    assert studio("export", folder, "--out", out, "--interface", interface) == 0
    tasks = json.loads(out.read_text(encoding="utf-8"))
    assert [task["data"]["item_id"] for task in tasks] == asked(folder)
    assert '<Choice value="food &amp; drink"/>' in interface.read_text(encoding="utf-8")
    for task in tasks:
        result = [{"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": ["animals"]}}]
        task["annotations"] = [{"completed_by": {"email": "ann@example.org"}, "result": result}]
    tasks[0]["annotations"][0]["result"][0]["value"]["choices"] = ["plants"]
    back.write_text(json.dumps(tasks))
    assert studio("import", folder, back) == 2
    assert f"item '{tasks[0]['data']['item_id']}': 'plants'" in capsys.readouterr().err
    assert not answers(folder)
    tasks[0]["annotations"][0]["was_cancelled"] = True
    tasks[1]["data"]["item_id"] = "unheard of"
    back.write_text(json.dumps(tasks))
    assert studio("import", folder, back) == 0
    assert f"kept {len(tasks) - 2} new answers" in capsys.readouterr().out
    assert studio("import", folder, back) == 0
    assert f"kept 0 new answers, 0 changed ones; {len(tasks) - 2} were known, and 1" in capsys.readouterr().out


def test_machine_labels_as_predictions(
    fake: FakeLabelStudio, folder: Path, fresh: tuple[Path, dict[str, str]], tmp_path: Path, capsys: Said
) -> None:
    truth = fresh[1]
    assert studio("export", folder, "--machine-labels", "--out", tmp_path / "tasks.json") == 0
    assert "labelled nothing" in capsys.readouterr().out
    while ids := asked(folder):
        with Project(folder) as project:
            project.answer((id_, truth[id_], "ann") for id_ in ids)
        assert main(["run", str(folder)]) == 0
    assert studio("push", folder, "--url", fake.url, "--create", "too late") == 0
    assert "Nobody is asked" in capsys.readouterr().out
    assert not fake.projects
    assert studio("push", folder, "--url", fake.url, "--create", "review", "--machine-labels") == 0
    assert len(fake.tasks) > 100
    prediction = fake.tasks[0]["predictions"][0]
    assert prediction["score"] > 0
    assert prediction["model_version"]
    assert prediction["result"][0]["value"]["choices"][0] in CLASSES


def test_images_go_along_or_are_elsewhere(tmp_path: Path, capsys: Said) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "images").mkdir()
    for number in range(300):
        pixels = rng.integers(0, 255, size=(8, 8), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "images" / f"no {number:03d}.png")
    folder = tmp_path / "project"
    options = ["--train-budget", "20", "--validation-budget", "120"]
    assert main(["init", str(folder), "--data", str(tmp_path / "images"), "--classes", "a,b", *options]) == 0
    assert main(["run", str(folder)]) == 0
    assert studio("export", folder, "--out", tmp_path / "tasks.json") == 0
    first = json.loads((tmp_path / "tasks.json").read_text())[0]["data"]
    assert first["image"].startswith("data:image/png;base64,iVBOR")
    assert studio("export", folder, "--out", tmp_path / "tasks.json", "--images", "http://pictures/") == 0
    first = json.loads((tmp_path / "tasks.json").read_text())[0]["data"]
    assert first["image"] == f"http://pictures/{first['item_id'].replace(' ', '%20')}"
    (tmp_path / "images" / first["item_id"]).unlink()
    capsys.readouterr()
    assert studio("export", folder, "--out", tmp_path / "tasks.json") == 2
    assert first["item_id"] in capsys.readouterr().err


def test_every_option_is_described() -> None:
    page_text = (Path(__file__).parents[2] / "docs" / "label-studio.md").read_text(encoding="utf-8")
    for action in ("push", "pull", "export", "import"):
        command = [sys.executable, "-m", "labelsieve", "label-studio", action, "--help"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert f"label-studio {action}" in page_text
        for option in re.findall(r"^  (--[\w-]+)", shown, re.MULTILINE):
            assert f"`{option}" in page_text, option
