"""The whole way through a real Label Studio server. One test, since the server takes its time to start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelsieve.annotators.label_studio import LabelStudio
from labelsieve.cli.main import main
from labelsieve.errors import AnnotatorError
from labelsieve.project import Project
from tests.label_studio.projects import CLASSES, make_project, studio, write_posts
from tests.label_studio.real import ADMIN, TOKEN, Person, running


def test_people_label_in_label_studio(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path) as url:
        truth = write_posts(tmp_path / "posts.csv")
        folder = make_project(tmp_path / "project", tmp_path / "posts.csv")
        token = tmp_path / "token"
        token.write_text(f"{TOKEN}\n")
        monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)

        with Project(folder) as project:
            first = project.questions().set_index("id")["content"].to_dict()
        assert studio("push", folder, "--url", url, "--create", "Posts", "--token-file", token) == 0
        assert studio("push", folder) == 0
        assert f"sent 0 tasks to project 1 at {url}; {len(first)} were there already" in capsys.readouterr().out

        ann = Person(url, ADMIN)
        bob = Person(url, "bob@example.org", ann.call("GET", "/api/invite")["invite_url"])
        tasks = ann.tasks(1)
        assert {item: task["data"]["text"] for item, task in tasks.items()} == first
        ids = list(first)
        wrong = {CLASSES[0]: CLASSES[1], CLASSES[1]: CLASSES[0]}
        changed = ann.choose(tasks[ids[0]], wrong[truth[ids[0]]])
        bob.choose(tasks[ids[0]], truth[ids[0]])
        bob.choose(tasks[ids[1]], truth[ids[1]], cancelled=True)
        bob.choose(tasks[ids[2]], truth[ids[2]])
        assert studio("pull", folder) == 0
        assert "kept 3 new answers, 0 changed ones; 0 were known\n" in capsys.readouterr().out
        with Project(folder) as project:
            table = project.answers.table()
            row = project.items.row_of(ids[0])
            assert set(table["annotator"][table["row"] == row]) == {ADMIN, "bob@example.org"}
            assert project.items.row_of(ids[1]) not in set(table["row"])
            assert ids[0] in set(project.questions()["id"])  # they disagree

        changed["result"][0]["value"]["choices"] = [truth[ids[0]]]
        ann.call("PATCH", f"/api/annotations/{changed['id']}/", {"result": changed["result"]})
        for item in ids[1:]:
            ann.choose(tasks[item], truth[item])
        assert studio("pull", folder) == 0
        assert f"kept {len(ids) - 1} new answers, 1 changed ones; 2 were known\n" in capsys.readouterr().out

        assert main(["run", str(folder)]) == 0  # goes on, and asks the next question
        assert studio("push", folder) == 0
        with Project(folder) as project:
            second = set(project.questions()["id"])
            assert project.status().training_labels == len(first)
        assert second
        assert second.isdisjoint(first)
        assert set(ann.tasks(1)) == second | set(first)

        # The second batch goes through a file that the server writes; the third with a token of the newer kind.
        for item in second:
            bob.choose(ann.tasks(1)[item], truth[item])
        exported = ann.call("GET", "/api/projects/1/export?exportType=JSON")
        (tmp_path / "export.json").write_text(json.dumps(exported))
        assert studio("import", folder, tmp_path / "export.json") == 0
        assert f"kept {len(second)} new answers" in capsys.readouterr().out
        assert main(["run", str(folder)]) == 0
        monkeypatch.setenv("LABEL_STUDIO_API_KEY", bob.call("POST", "/api/token/", {})["token"])
        with Project(folder) as project:
            third = list(project.questions()["id"])
        assert studio("push", folder) == 0
        tasks = ann.tasks(1)
        for item in third:
            ann.choose(tasks[item], truth[item])
        assert studio("pull", folder) == 0
        assert f"kept {len(third)} new answers" in capsys.readouterr().out
        assert main(["run", str(folder)]) == 0

        while True:  # the rest without the server, which is slow
            with Project(folder) as project:
                project.answer((item, truth[item], "cid") for item in project.questions()["id"])
                if not project.status().batch:
                    break
            assert main(["run", str(folder)]) == 0
        with Project(folder) as project:
            n_machine = project.status().machine_labels
        assert n_machine > 100

        capsys.readouterr()
        assert studio("push", folder, "--create", "Review", "--machine-labels") == 0
        assert f"sent {n_machine} tasks to project 2" in capsys.readouterr().out
        one = next(iter(ann.tasks(2).values()))
        assert one["predictions"][0]["score"] > 0
        assert one["predictions"][0]["result"][0]["value"]["choices"][0] in CLASSES

        for wrong_token in ("0" * 40, "not.a.token"):
            with pytest.raises(AnnotatorError, match="does not accept the token"):
                LabelStudio(url, wrong_token).interface(1)
        with pytest.raises(AnnotatorError, match="has no project 999"):
            LabelStudio(url, TOKEN).interface(999)
        with pytest.raises(AnnotatorError, match="web page where JSON was expected"):
            LabelStudio(f"{url}/user/login", TOKEN).people()
        with pytest.raises(AnnotatorError, match="50 characters"):
            LabelStudio(url, TOKEN).make_project("x" * 51, "<View/>")
    assert TOKEN not in "".join(capsys.readouterr())
