from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from labelsieve.engine.progress import Bars, _outcome, _pace


@pytest.mark.parametrize(
    ("done", "total", "seconds", "text"),
    [
        (0, 100, 0.0, ""),
        (50_000, 1_000_000, 2.0, " · 25,000 points/s · 0:38 left"),
        (1_000, 1_000_000, 1.0, " · 1,000 points/s · 16:39 left"),
        (100, 100, 4.0, " · 25 points/s · 0:00 left"),
    ],
)
def test_pace(done, total, seconds, text):
    assert _pace(done, total, seconds) == text


@pytest.mark.parametrize(("expected", "words"), [(None, ""), (1234.4, " · 1,234 machine labels expected")])
def test_a_closed_round_says_what_it_expects(small_run, expected, words):
    report = replace(small_run().rounds[0], expected_machine_labels=expected)
    assert _outcome(report).endswith(f"{report.remaining:,} left{words}")


def test_bars_show_throughput_and_time_left(monkeypatch):
    now = iter([10.0, 10.0, 12.0])
    monkeypatch.setattr("labelsieve.engine.progress.time.monotonic", lambda: next(now))
    bars, screen = Bars(), io.StringIO()
    bars._progress.live.console = Console(file=screen, width=120)
    bars.round_started(3, 500)
    bars.scoring(0, 1000)
    bars.scoring(250, 1000)
    (task,) = bars._progress.tasks
    assert task.description == "round 3 · scoring the pool · 125 points/s · 0:06 left"
    assert task.completed == pytest.approx(0.7 + 0.3 * 0.25)
