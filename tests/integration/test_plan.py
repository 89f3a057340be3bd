"""``labelsieve plan`` as people run it, and its forecast against what really comes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from labelsieve.cli.main import main
from labelsieve.expectation import coverage_expected_at
from labelsieve.planner import Pilot, plan
from labelsieve.thresholds import CertifiedRule


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "labelsieve", "plan", *map(str, arguments)],
        env=os.environ | {"PYTHONIOENCODING": "utf-8"}, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def pilot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    right = rng.random(120) < 0.9
    scores = 1 / (1 + np.exp(-rng.normal(size=120) - 2 * right))
    file = tmp_path_factory.mktemp("pilot") / "pilot.csv"
    file.write_text("score,correct\n" + "\n".join(f"{s},{int(c)}" for s, c in zip(scores, right, strict=True)))
    return file


def numbers(value: Any) -> set[str]:
    """Every number of the JSON, in each of the ways the text may show it."""
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values()))
    if isinstance(value, list):
        return set().union(*map(numbers, value))
    if isinstance(value, str):
        return set(re.findall(r"\d[\d,.]*\d|\d", value))
    if isinstance(value, bool) or value is None:
        return set()
    return {f"{value:,}", f"{100 * value:.3g}", f"{100 - 100 * value:.3g}", f"{value:.3g}", f"{value:,.2f}",
            f"{value:,.1f}"}  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        ("--price", 0.08, "--minutes", 0.25, "--candidates", 5),
        ("--pilot-accuracy", 0.9, "--tolerance", 0.02, "--budget", 3000),
        ("--pilot", "FILE", "--train-budget", 400, "--validation-budget", 900, "--delta", 0.1),
    ],
)
def test_text_and_json_agree(more: tuple[object, ...], pilot_file: Path) -> None:
    arguments = ["--pool", 20000, "--classes", 8, *(pilot_file if value == "FILE" else value for value in more)]
    text, data = command(*arguments), command(*arguments, "--json")
    assert text.returncode == data.returncode == 0, text.stderr + data.stderr
    assert text.stderr == data.stderr == ""
    record = json.loads(data.stdout, parse_constant=pytest.fail)
    fixed = {"9", "10"}  # "enough in 9 of 10"
    assert set(re.findall(r"\d[\d,.]*\d|\d", text.stdout)) <= numbers(record) | fixed
    together = " ".join(text.stdout.split())
    for sentence in (*record["verdict"]["reasons"], *record["assumptions"]):
        assert sentence in together
    assert "\x1b" not in text.stdout
    assert "forecast, not a promise" in text.stdout.splitlines()[0]
    assert max(map(len, text.stdout.splitlines())) <= 100
    row = next(line for line in text.stdout.splitlines() if "human labels saved" in line)
    assert row.split()[-3:] == [f"{record[case]['labels_saved']:,}" for case in ("low", "middle", "high")]


def test_columns_are_aligned() -> None:
    lines = command("--pool", 20000, "--classes", 8, "--price", 2).stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if line.split() == ["low", "middle", "high"])
    assert len({len(line) for line in lines[start : start + 10]}) == 1


def test_json_is_the_library_s() -> None:
    printed = json.loads(command("--pool", 9000, "--classes", 4, "--price", 0.5, "--json").stdout)
    assert printed == json.loads(json.dumps(plan(9000, 4, price=0.5).to_dict()))


def test_cannot_pay_is_an_answer() -> None:
    done = command("--pool", 120, "--classes", 2)
    assert done.returncode == 0
    assert "Auto-labelling cannot pay" in done.stdout
    assert "impossible" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a Unix thing")
def test_a_table_on_a_terminal() -> None:
    import pty

    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen, os.fdopen(theirs, "wb") as terminal:
        started = subprocess.Popen(
            [sys.executable, "-m", "labelsieve", "plan", "--pool", "20000", "--classes", "8"],
            stdout=terminal, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
        )  # fmt: skip
        terminal.close()
        shown = b""
        try:
            while chunk := screen.read(4096):
                shown += chunk
        except OSError:  # how Linux says that the other end is closed
            pass
        assert started.wait(timeout=60) == 0
    assert "│" in shown.decode()
    assert "human labels saved" in shown.decode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--pool", 0, "--classes", 3), "pool_size must be a whole number from 2 to 100,000,000; got 0"),
        (("--pool", 1000, "--classes", 3, "--tolerance", 1.5), "tolerance must lie strictly between 0 and 1"),
        (("--pool", 1000, "--classes", 3, "--delta", 0), "delta must lie strictly between 0 and 1"),
        (("--pool", 1000, "--classes", 3, "--budget", 2000), "smaller than the pool"),
        (("--pool", 1000, "--classes", 3, "--price", "nan"), "above 0; got nan"),
        (("--pool", 1000, "--classes", 3, "--pilot", "nowhere.csv"), "nowhere.csv cannot be read"),
    ],
)
def test_errors_are_one_line(arguments: tuple[object, ...], said: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("labelsieve: error: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--pool", "many", "--classes", 3),
        ("--pool", 9, "--classes", 3, "--pilot", "a", "--pilot-accuracy", 1),
    ],
)
def test_misuse_shows_the_usage(arguments: tuple[object, ...]) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: labelsieve plan")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys, time\n"
        "from labelsieve.cli.main import main\n"
        "try: main(['plan', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'scipy', 'rich') if name in sys.modules], time.process_time())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded, _, seconds = done.stdout.splitlines()[-1].rpartition(" ")
    assert loaded == "[]"
    assert float(seconds) < 0.5
    assert "--pilot-accuracy" in done.stdout


def digits_run(seed: int, train: int = 200, validation: int = 400, pilot_points: int = 100) -> tuple[Any, float, float]:
    """The plan from a pilot, then what really came: certified coverage, and the best threshold in hindsight.

    The pilot's points are not used again.
    """
    points, truth = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(truth))
    trained, pilot, held_out, rest = np.split(order, np.cumsum([train, pilot_points, validation]))
    model = LogisticRegression(max_iter=1000).fit(points[trained] / 16, truth[trained])
    probabilities = model.predict_proba(points / 16)
    scores, predicted = probabilities.max(axis=1), probabilities.argmax(axis=1)
    right = predicted == truth
    pool = len(truth) - pilot_points
    forecast = plan(
        pool, 10, train_budget=train, validation_budget=validation, pilot=Pilot(scores[pilot], right[pilot])
    )
    thresholds = CertifiedRule(tolerance=0.05, delta=0.05, groups="joint").estimate(
        scores[held_out], predicted[held_out], right[held_out], 10,
        pool_scores=scores[rest], pool_predicted=predicted[rest],
        expected_coverage=coverage_expected_at(0.05, np.r_[scores[held_out], scores[rest]]),
    )  # fmt: skip
    certified = (scores[rest] >= thresholds[predicted[rest]]).sum()
    wrong = (~right[rest])[np.argsort(-scores[rest])].cumsum()
    best = np.flatnonzero(wrong <= 0.05 * np.arange(1, len(rest) + 1)).max(initial=-1) + 1
    return forecast, certified / pool, best / pool


def test_the_forecast_holds_on_digits() -> None:
    """The range is meant to hold 90 %; fewer seeds here than below, so the bound is loose.

    Over 60 seeds it held 97, 87 and 88 % of the certified coverages with 200, 400 and 800 validation labels, and 78 to
    85 % of those in hindsight. The certified coverage was within 4 points of the middle case on average.
    """
    step, hits, best_hits, middles, widths = 0.05, 0, 0, [], []
    for seed in range(12):
        forecast, certified, best = digits_run(seed)
        hits += forecast.low.coverage - step <= certified <= forecast.high.coverage + step
        best_hits += forecast.low.best_in_hindsight - step <= best <= forecast.high.best_in_hindsight + step
        middles.append(forecast.middle.coverage - certified)
        widths.append(forecast.high.coverage - forecast.low.coverage)
    assert hits >= 9
    assert best_hits >= 9
    assert abs(np.mean(middles)) < 0.12
    assert np.mean(widths) < 0.58  # not all that is possible: coverage cannot exceed 0.65


def test_the_command_that_init_prints_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{number},{number % 7},{number % 5}\n" for number in range(900))
    (tmp_path / "points.csv").write_text("id,width,height\n" + rows)
    made = ["init", str(tmp_path / "project"), "--data", str(tmp_path / "points.csv"), "--id", "id", "--classes", "a,b"]
    assert main(made) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "labelsieve plan" in line)
    assert main(line.partition("labelsieve ")[2].split()) == 0
    assert "pay" in capsys.readouterr().out
