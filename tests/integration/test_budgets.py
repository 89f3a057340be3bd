"""Budgets that fit the data, and a word before anything costly where none do."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelsieve.cli.main import main
from labelsieve.planner import plan
from labelsieve.project import Project
from labelsieve.project.budgets import fewest_to_check_with
from labelsieve.project.config import LabellingSection
from labelsieve.thresholds import CertifiedRule
from tests.integration.posts import CLASSES, write_posts


def made(tmp_path: Path, n: int, *options: str) -> Path:
    folder = tmp_path / "p"
    data = ["--data", str(write_posts(tmp_path / "posts.csv", n)), "--text", "body", "--id", "post"]
    assert main(["init", str(folder), *data, "--classes", ",".join(CLASSES), *options]) == 0
    return folder


def budgets(folder: Path) -> tuple[int, int]:
    with Project(folder) as project:
        return project.config.labelling.train_budget, project.config.labelling.validation_budget


def test_half_the_labels_of_an_easy_file_are_saved(tmp_path: Path) -> None:
    folder = made(tmp_path, 500)
    assert main(["run", str(folder), "--simulate", "topic"]) == 0
    with Project(folder) as project:
        assert project.status().machine_labels > 200


def test_a_small_file_can_be_run_as_init_made_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path, 300)
    assert budgets(folder) == (50, 118)
    said = capsys.readouterr().out
    assert "50 to learn from and 118 to check with, of 300 items; the other 132 are for the machine" in said
    assert "labelling all by hand may be less trouble" in said
    assert main(["run", str(folder), "--simulate", "topic"]) == 0


@pytest.mark.parametrize(
    ("n", "options", "chosen"),
    [
        (900, (), (150, 300)),
        (2500, (), (416, 500)),
        (3000, (), (500, 500)),
        (900, ("--validation-budget", "800"), (100, 800)),
        (900, ("--train-budget", "60"), (60, 300)),
        (3000, ("--tolerance", "0.01"), (500, 598)),
    ],
)
def test_what_is_chosen(tmp_path: Path, n: int, options: tuple[str, ...], chosen: tuple[int, int]) -> None:
    assert budgets(made(tmp_path, n, *options)) == chosen


@pytest.mark.parametrize(
    ("n", "options", "reason"),
    [
        (200, (), "118 labels to check with and some to learn from; there are 200 items"),
        (250, (), "train_budget leaves 209 items"),
        (60, (), "118 labels to check with and some to learn from; there are 60 items"),
        (300, ("--train-budget", "200"), "must fit into the pool of 300 points; got 200 + 118"),
    ],
)
def test_what_cannot_work_is_said_by_init_status_and_run_before_features(
    tmp_path: Path, n: int, options: tuple[str, ...], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, n, *options)
    for said in (capsys.readouterr().out, _status(folder, capsys)):
        assert reason in said
        assert "[labelling] in labelsieve.toml" in said
        assert f"labelsieve run {folder}" not in said
    assert main(["run", str(folder)]) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert "[labelling] in labelsieve.toml" in said
    assert not list((folder / "features").iterdir())


def test_too_few_labels_to_check_with_are_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["--data", str(write_posts(tmp_path / "posts.csv", 300)), "--text", "body", "--classes", ",".join(CLASSES)]
    assert main(["init", str(tmp_path / "p"), *data, "--validation-budget", "10"]) == 2
    assert "validation_budget must be 118 or more" in capsys.readouterr().err
    assert not (tmp_path / "p").exists()
    made(tmp_path, 300, "--validation-budget", "12", "--tolerance", "0.4")


def test_too_few_labels_to_check_with_in_the_file_are_refused_before_features(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, 300, "--validation-budget", "118")
    config = folder / "labelsieve.toml"
    config.write_text(config.read_text().replace("validation_budget = 118", "validation_budget = 100"))
    assert "validation_budget must be 118 or more" in _status(folder, capsys)
    assert main(["run", str(folder)]) == 2
    assert "validation_budget must be 118 or more" in capsys.readouterr().err
    assert not list((folder / "features").iterdir())


def _status(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["status", str(folder)]) == 0
    return capsys.readouterr().out


def test_a_project_may_stop_asking_early(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path, 900, "--stop-early")
    assert main(["run", str(folder), "--simulate", "topic"]) == 0
    with Project(folder) as project:
        assert project.so_far().rounds[-1].train_points < project.config.labelling.train_budget
        status = project.status()
        assert status.machine_labels > 2 * status.left


def test_stopping_early_by_a_function_that_expects_nothing_is_refused_before_features(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, 900, "--stop-early")
    config = folder / "labelsieve.toml"
    config.write_text(config.read_text().replace('confidence = "auto"', 'confidence = "softmax"'))
    assert main(["run", str(folder)]) == 2
    assert "stop_early needs a confidence function" in capsys.readouterr().err
    assert not list((folder / "features").iterdir())


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({}, 118),
        ({"confidence": "temperature"}, 236),  # half of them calibrate
        ({"certified_rounds": 2}, 2 * 144),  # two tests at half the delta
        ({"thresholds": "paper"}, 11),
    ],
)
def test_the_fewest_to_check_with(settings: dict[str, object], needed: int) -> None:
    assert fewest_to_check_with(LabellingSection.model_validate(settings), 5000) == needed


@pytest.mark.parametrize("points", [100, 235, 236, 274, 3464, 50_000])
@pytest.mark.parametrize(("tolerance", "delta"), [(0.05, 0.05), (0.03, 0.01), (0.1, 0.1)])
def test_a_project_a_plan_and_the_rule_agree_on_the_fewest(points: int, tolerance: float, delta: float) -> None:
    promise = {"tolerance": tolerance, "delta": delta}
    needed = CertifiedRule(**promise).fewest_held_out(points)
    assert fewest_to_check_with(LabellingSection.model_validate(promise), points) == needed
    assert plan(points + 30, 4, train_budget=30, **promise).joint.at_least == needed
