"""torch is loaded when a network is trained and not before; the command line answers at once."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest

from tests.web.projects import made


def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import labelsieve.engine.autolabel",
        "import labelsieve.thresholds, labelsieve.queries, labelsieve.engine.ledger, labelsieve.annotators",
        "import labelsieve.search, labelsieve.executors, labelsieve.cli.search, labelsieve.engine.sharding",
        "import labelsieve as ls; ls.autolabel, ls.confidence.Softmax, ls.Pool, ls.Outputs",
        "import numpy as np, labelsieve as ls\n"
        "x = np.random.default_rng(0).normal(size=(60, 2))\n"
        "settings = {'train_budget': 20, 'validation_budget': 20, 'thresholds': 'paper', 'progress': False}\n"
        "ls.autolabel(x, lambda ids: ids % 2, **settings)\n"
        "unit = x / np.linalg.norm(x, axis=1, keepdims=True)\n"
        "ls.autolabel(unit, lambda ids: ids % 2, training='semi-supervised', **settings)",
    ],
)
def test_without_torch_and_ray(code):
    assert not loaded_after(code) & {"torch", "ray"}


@pytest.mark.parametrize("command", ["status", "ask"])
def test_looking_at_a_project_waits_for_nothing_that_only_a_run_needs(tmp_path, command):
    folder = made(tmp_path / "p", ["one", "two", "three"], asked=[0, 2])
    more = ["--out", str(tmp_path / "questions.csv")] if command == "ask" else []
    code = f"from labelsieve.cli.main import main\nassert main({[command, str(folder), *more]!r}) == 0"
    assert not loaded_after(code) & {"sklearn", "scipy.stats", "matplotlib", "torch"}


WITHOUT_READERS = """
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("pyarrow", "PIL"):
            raise ImportError(name)

sys.meta_path.insert(0, NotInstalled())
import numpy as np
import labelsieve as ls

x = np.random.default_rng(0).normal(size=(60, 2))
run = ls.autolabel(x, lambda ids: ids % 2, train_budget=20, validation_budget=20, thresholds="paper", progress=False)
assert run.human_labels == 40, run
"""


def test_readers_of_files_are_needed_only_for_such_files():
    assert {"pyarrow", "PIL"}.isdisjoint(loaded_after(WITHOUT_READERS))


def test_help_takes_less_than_half_a_second_of_processor_time():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "labelsieve", "--help"], capture_output=True, text=True, check=True, env=os.environ
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "demo" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5
