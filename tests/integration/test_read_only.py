"""Folders that cannot be written to: a clear word, and nothing half-written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from labelsieve.cli.main import main
from tests.integration.posts import CLASSES, made, write_posts


@pytest.fixture(scope="module")
def posts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_posts(tmp_path_factory.mktemp("data") / "posts.csv", 400)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, posts: Path) -> Path:
    """One that has asked people its first questions."""
    folder = made(tmp_path_factory.mktemp("projects") / "project", posts)
    assert main(["run", str(folder)]) == 0
    return folder


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o555)
    yield folder
    assert not list(folder.iterdir())


def labelsieve(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """As a process that file permissions bind. They do not bind root, unless it gives up the right to override them."""
    binding = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("permissions do not bind root, and setpriv is not there to change that")
        binding = ["setpriv", "--bounding-set", "-dac_override"]
    command = [*binding, sys.executable, "-m", "labelsieve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def state(folder: Path) -> dict[str, bytes]:
    """All files but those that SQLite keeps beside its own while it reads."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm")))
    return {str(path): path.read_bytes() for path in files}


def test_permissions_bind_these_processes(read_only: Path) -> None:
    """Else the others would prove nothing."""
    done = labelsieve("demo", "--out", read_only / "demo")
    assert done.returncode == 2


@pytest.mark.parametrize("inside", [True, False])
def test_a_project_where_none_can_be_made(tmp_path: Path, posts: Path, read_only: Path, inside: bool) -> None:
    folder = read_only / "project" if inside else read_only
    done = labelsieve("init", folder, "--data", posts, "--classes", ",".join(CLASSES), "--text", "body")
    assert done.returncode == 2
    assert f"{folder} cannot be" in done.stderr
    assert "Permission denied" in done.stderr
    assert "Choose another" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["read-only"]


@pytest.mark.parametrize("command", ["run", "answer", "serve"])
def test_a_project_that_became_read_only(project: Path, posts: Path, command: str) -> None:
    before = state(project)
    more = {"answer": [posts], "serve": ["--port", "0"]}.get(command, [])
    paths = [project, *project.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        done = labelsieve(command, project, *more)
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.returncode == 2
    assert "project.sqlite cannot be opened now" in done.stderr
    assert "the folder writable" in done.stderr
    assert state(project) == before
    assert main(["run", str(project)]) == 0


@pytest.mark.parametrize("command", ["ask", "export --format csv", "export --format hugging-face"])
def test_a_file_that_cannot_be_written(project: Path, read_only: Path, command: str) -> None:
    name, *more = command.split()
    out = read_only / "out"
    done = labelsieve(name, project, "--out", out, *more, *(["--all"] if name == "export" else []))
    assert done.returncode == 2
    assert f"the system says of {out}: Permission denied" in done.stderr


@pytest.mark.parametrize("place", ["features", "project.lock"])
def test_a_part_of_the_project_that_cannot_be_written(project: Path, place: str) -> None:
    path = project / place
    if path.is_dir():
        for file in path.iterdir():
            file.unlink()
    path.chmod(0o555 if path.is_dir() else 0o444)
    done = labelsieve("run", project)
    path.chmod(0o755 if path.is_dir() else 0o644)
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert "Permission denied" in done.stderr
