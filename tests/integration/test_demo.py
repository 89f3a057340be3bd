"""The command line, run as people run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pandas as pd
import pytest

import labelsieve
from labelsieve.cli import main as cli

Command = Callable[..., "subprocess.CompletedProcess[str]"]
HEAVY = ("numpy", "pandas", "scipy", "sklearn", "torch", "matplotlib", "rich")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs ``labelsieve`` with these arguments, in a folder of its own and without a terminal."""
    folder = tmp_path_factory.mktemp("home")
    environment = {name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "COLUMNS"}}

    def run(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "labelsieve", *map(str, arguments)],
            cwd=folder, env=environment | {"PYTHONIOENCODING": "utf-8"} | more, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip

    return run


@pytest.fixture(scope="module")
def demo(command: Command, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the demo printed, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    done = command("demo", "--out", folder, "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout, folder


def cell(printed: str, name: str) -> str:
    """The text beside a name in the closing table, its lines joined."""
    rows = [[part.strip() for part in line.strip("│").split("│")] for line in printed.splitlines() if "│" in line]
    start = next(number for number, row in enumerate(rows) if row[0] == name)
    end = next((number for number in range(start + 1, len(rows)) if rows[number][0]), len(rows))
    return " ".join(row[1] for row in rows[start:end])


def test_numbers_printed_are_those_written(demo: tuple[str, Path]) -> None:
    printed, folder = demo
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    truth = record["against_truth"]
    assert record["seed"] == 3
    assert cell(printed, "coverage").startswith(f"{100 * record['coverage']:.3g} % of the pool")
    assert cell(printed, "machine labels") == f"{record['machine_labels']:,} of {record['pool_size']:,} points"
    assert cell(printed, "human labels used").startswith(f"{record['human_labels']:,} (")
    assert f"{record['unlabelled']:,} points left" in cell(printed, "human labels used")
    assert cell(printed, "error") == (
        f"{100 * truth['error']:.3g} % ({truth['wrong']:,} of {truth['of']:,} wrong) against the truth "
        "(known here because this is a rehearsal)"
    )
    assert cell(printed, "tolerance") == f"{100 * record['tolerance']:.3g} %"


def test_labels_are_those_counted(demo: tuple[str, Path]) -> None:
    _, folder = demo
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    labels = pd.read_csv(folder / "labels.csv")
    assert labels["id"].is_unique
    assert (labels["source"] == "machine").sum() == record["machine_labels"] > 0
    assert (labels["source"] == "human").sum() == record["human_labels"]


def test_output_is_plain_without_a_terminal(demo: tuple[str, Path]) -> None:
    printed, folder = demo
    assert "\x1b" not in printed
    assert "\r" not in printed
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert re.findall(r"^round (\d+) ", printed, re.MULTILINE) == [str(row["round"]) for row in record["rounds"]]
    assert "1,797 handwritten digits" in printed.splitlines()[0]


def test_every_path_printed_exists(demo: tuple[str, Path]) -> None:
    printed, folder = demo
    paths = [Path(path) for path in re.findall(r"^wrote (\S+)", printed, re.MULTILINE)]
    assert sorted(paths) == sorted(folder / name for name in ("labels.csv", "report.html", "run.json", "truth.csv"))
    assert all(path.stat().st_size for path in paths)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a Unix thing")
def test_bars_are_drawn_on_a_terminal(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen, os.fdopen(theirs, "wb") as terminal:
        started = subprocess.Popen(
            [sys.executable, "-m", "labelsieve", "demo", "--out", str(tmp_path)],
            stdout=subprocess.DEVNULL, stderr=terminal, env=os.environ | {"TERM": "xterm"},
        )  # fmt: skip
        terminal.close()
        shown = b""
        try:
            while chunk := screen.read(4096):
                shown += chunk
        except OSError:  # how Linux says that the other end is closed
            pass
        assert started.wait(timeout=60) == 0
    assert b"\x1b[" in shown
    assert b"round 1" in shown


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_out_that_cannot_be_a_folder(place: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = command("demo", "--out", tmp_path / place)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(r"labelsieve: error: --out must name a folder.*\n", done.stderr)
    assert str(tmp_path / place) in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_out_without_permission(command: Command, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    done = command("demo", "--out", tmp_path / "new")
    tmp_path.chmod(0o700)
    assert done.returncode == 2
    assert done.stderr.endswith("Permission denied. Choose another place.\n")


@pytest.mark.parametrize("seed", ["-1", "x", "0.5"])
def test_a_seed_that_is_none(seed: str, command: Command) -> None:
    done = command("demo", f"--seed={seed}")
    assert done.returncode == 2
    assert f"argument --seed: must be a whole number from 0 on; got '{seed}'" in done.stderr


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (labelsieve.errors.DataError("no data"), 2, "labelsieve: error: no data\n"),
        (OSError(28, "No space left on device", "run.json"), 2, "has room, or choose another place.\n"),
        (
            FileNotFoundError(2, "No such file or directory", "x"),
            2,
            "there is no x. Check the name, and that the folder it should be in is there.\n",
        ),
        (KeyboardInterrupt(), 130, "labelsieve: interrupted\n"),
    ],
)
def test_failures_are_one_line(
    raised: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> None:
        raise raised

    monkeypatch.setattr("labelsieve.cli.demo.demo", fail)
    assert cli.main(["demo"]) == status
    error = capsys.readouterr().err
    assert error.endswith(message)
    assert error.count("\n") == 1


def test_help_is_quick_and_light(command: Command) -> None:
    script = (
        "import sys, time\n"
        "from labelsieve.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], time.process_time())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded, _, seconds = done.stdout.splitlines()[-1].rpartition(" ")
    assert loaded == "[]"
    assert float(seconds) < 0.5
    assert "demo" in done.stdout


def test_version_and_entry_point(command: Command) -> None:
    assert command("--version").stdout == f"labelsieve {labelsieve.__version__}\n"
    (script,) = entry_points(group="console_scripts", name="labelsieve")
    assert script.load() is cli.main


def test_no_command_shows_how_it_is_used(command: Command) -> None:
    done = command()
    assert done.returncode == 2
    assert done.stderr.startswith("usage: labelsieve")
