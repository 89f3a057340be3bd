"""Rows that come later: before the first run they are added, afterwards a new project takes the answers along."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from labelsieve.cli.main import main
from labelsieve.engine.entries import Asked, Role
from labelsieve.project import Project
from labelsieve.store.journal import replayed
from tests.integration.posts import CLASSES, exported, made, write_posts


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_posts(tmp_path_factory.mktemp("data") / "posts.csv")


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory, posts: Path) -> Path:
    """A finished project of the first 600 posts."""
    folder = tmp_path_factory.mktemp("earlier")
    made(folder / "project", part(posts, folder / "first.csv", slice(600)))
    assert main(["run", str(folder / "project"), "--simulate", "topic"]) == 0
    return folder / "project"


def part(posts: Path, path: Path, rows: slice) -> Path:
    pd.read_csv(posts, dtype=str).iloc[rows].to_csv(path, index=False)
    return path


def n_items(folder: Path) -> int:
    with Project(folder) as project:
        return len(project.items)


def add(folder: Path, data: Path) -> int:
    return main(["add", str(folder), "--data", str(data)])


class TestBeforeTheFirstRun:
    def test_new_rows_join_and_known_ones_stay(
        self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = made(tmp_path / "grown", part(posts, tmp_path / "first.csv", slice(600)))
        capsys.readouterr()
        assert add(folder, part(posts, tmp_path / "overlapping.csv", slice(500, 900))) == 0
        assert "added 300 items; 100 were there already; 900 in all" in capsys.readouterr().out
        assert add(folder, posts) == 0
        assert "added 0 items" in capsys.readouterr().out

        assert main(["run", str(folder), "--simulate", "topic"]) == 2  # the file it was made from has 600 rows
        assert "data.file" in capsys.readouterr().err
        config = folder / "labelsieve.toml"
        config.write_text(config.read_text().replace(str(tmp_path / "first.csv"), str(posts)))
        at_once = made(tmp_path / "at-once", posts)
        for project in (folder, at_once):
            assert main(["run", str(project), "--simulate", "topic"]) == 0
        pd.testing.assert_frame_equal(exported(folder), exported(at_once))

    def test_an_id_stands_for_one_item(self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = made(tmp_path / "project", part(posts, tmp_path / "first.csv", slice(600)))
        changed = pd.read_csv(posts, dtype=str)
        changed.loc[7, "body"] = "another text"
        changed.to_csv(tmp_path / "changed.csv", index=False)
        assert add(folder, tmp_path / "changed.csv") == 2
        said = capsys.readouterr().err
        assert "'p0007'" in said
        assert "ids of their own" in said
        assert n_items(folder) == 600

    def test_numbered_rows_grow_at_the_end(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        data = tmp_path / "data.csv"
        data.write_text("body\none\ntwo\n")
        assert main(["init", str(tmp_path / "p"), "--data", str(data), "--classes", "a,b", "--text", "body"]) == 0
        data.write_text("body\none\ntwo\nthree\n")
        assert add(tmp_path / "p", data) == 0
        with Project(tmp_path / "p") as project:
            assert project.items.take(np.array([2])) == [("2", "three")]
        data.write_text("body\nfour\n")
        assert add(tmp_path / "p", data) == 2
        assert "at its end" in capsys.readouterr().err

    def test_images_are_put_into_the_folder_and_added(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        images, other = tmp_path / "images", tmp_path / "other"
        for folder in (images, other):
            folder.mkdir()
            Image.new("L", (8, 8)).save(folder / "one.png")
        assert main(["init", str(tmp_path / "p"), "--data", str(images), "--classes", "a,b"]) == 0
        assert add(tmp_path / "p", other) == 2  # its one.png would be taken for the other
        assert "Put the new images into" in capsys.readouterr().err
        (images / "two.png").write_bytes(b"no image")
        assert add(tmp_path / "p", images) == 2
        assert n_items(tmp_path / "p") == 1
        Image.new("L", (8, 8)).save(images / "two.png")
        assert add(tmp_path / "p", images) == 0
        assert n_items(tmp_path / "p") == 2

    def test_an_array_cannot_grow(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        np.save(tmp_path / "x.npy", np.zeros((5, 2)))
        assert main(["init", str(tmp_path / "p"), "--data", str(tmp_path / "x.npy"), "--classes", "a,b"]) == 0
        assert add(tmp_path / "p", tmp_path / "x.npy") == 2
        assert "one array with all rows" in capsys.readouterr().err


class TestAfterwards:
    def test_nothing_is_added_to_what_a_promise_is_about(
        self, earlier: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert add(earlier, posts) == 2
        said = capsys.readouterr().err
        assert "the 600 items it began with" in said
        assert f"--answers-from {earlier}" in said
        assert n_items(earlier) == 600

    def test_answers_are_learned_from_and_checks_drawn_afresh(
        self, tmp_path: Path, earlier: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answered = set(exported(earlier, "--only", "human")["id"])
        folder = made(tmp_path / "project", posts, "--answers-from", str(earlier), "--train-budget", "300")
        assert f"took {len(answered)} answers" in capsys.readouterr().out
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        with Project(folder) as project:
            ids, state = project.items.ids(), replayed(project.database).state
            first = next(entry for entry in replayed(project.database) if isinstance(entry, Asked))
        assert set(ids[first.points]) == answered
        assert answered <= set(ids[state.training()])
        checked_with = np.isin(state.role, (Role.CALIBRATION, Role.THRESHOLD))
        assert checked_with.sum() == 150
        assert not answered & set(ids[checked_with])
        labels, truth = exported(folder), pd.read_csv(posts, dtype=str).set_index("post")["topic"]
        machine = labels[labels["source"] == "machine"]
        assert len(machine) > 100
        assert (truth[machine["id"]].to_numpy() != machine["label"]).mean() <= 0.05

    def test_a_run_cut_off_at_its_very_start_still_learns_from_them(
        self, tmp_path: Path, earlier: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = made(tmp_path / "project", posts, "--answers-from", str(earlier))

        def cut_off(_project: Project, _ledger: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(Project, "_learn_from_what_was_taken_along", cut_off)
            assert main(["run", str(folder), "--simulate", "topic"]) == 130
        assert main(["run", str(folder), "--simulate", "topic"]) == 0
        with Project(folder) as project:
            ids, training = project.items.ids(), replayed(project.database).state.training()
        assert set(exported(earlier, "--only", "human")["id"]) <= set(ids[training])

    def test_answers_about_other_items_and_with_other_classes_stay_behind(
        self, tmp_path: Path, earlier: Path, posts: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        answers = exported(earlier, "--only", "human")
        table = pd.read_csv(posts, dtype=str)
        changed, gone = answers["id"].iloc[0], answers["id"].iloc[1]
        table.loc[table["post"] == changed, "body"] = "another text"
        table[table["post"] != gone].to_csv(tmp_path / "data.csv", index=False)
        capsys.readouterr()
        classes = ",".join(name for name in (*CLASSES, "sport") if name != "food")
        folder = made(tmp_path / "p", tmp_path / "data.csv", "--answers-from", str(earlier), "--classes", classes)
        rest = answers.iloc[2:]
        n_food = int((rest["label"] == "food").sum())
        said = capsys.readouterr().out
        assert f"took {len(rest) - n_food} answers" in said
        assert "2 about items" in said
        assert f"{n_food} with other classes" in said
        with Project(folder) as project:
            assert set(project.answers.table()["label"]) == {"animals", "travel"}

    def test_a_project_that_is_none(self, tmp_path: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
        arguments = ["init", str(tmp_path / "p"), "--data", str(posts), "--classes", "a,b", "--text", "body"]
        assert main([*arguments, "--answers-from", str(tmp_path)]) == 2
        assert "project.sqlite" in capsys.readouterr().err
        assert not (tmp_path / "p").exists()

    def test_features_are_computed_for_new_items_only(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        images = tmp_path / "images"
        images.mkdir()

        def draw(numbers: range) -> None:
            for number in numbers:
                Image.fromarray(rng.integers(0, 255, (8, 8), dtype=np.uint8)).save(images / f"{number:03d}.png")

        def run(folder: Path) -> list[tuple[int, int]]:
            seen: list[tuple[int, int]] = []
            with Project(folder) as project:
                project.run(
                    progress=False,
                    features_progress=lambda what, done, total: (
                        what == "looking at images" and seen.append((done, total))
                    ),
                )
            return seen

        arguments = ["--data", str(images), "--classes", "a,b", "--train-budget", "10", "--validation-budget", "160"]
        draw(range(300))
        assert main(["init", str(tmp_path / "old"), *arguments]) == 0
        assert run(tmp_path / "old")[0] == (0, 300)
        draw(range(300, 330))
        assert main(["init", str(tmp_path / "new"), *arguments, "--answers-from", str(tmp_path / "old")]) == 0
        assert run(tmp_path / "new")[0] == (300, 330)
