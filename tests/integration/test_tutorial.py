"""The tutorial, typed as it is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("bash") is None, reason="the tutorial is for bash")
def test_every_command_works_as_written(tmp_path: Path, shared_data: Path) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 6
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "LABELSIEVE_DATA": str(shared_data.resolve()),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    posts = pd.read_json(tmp_path / "posts.jsonl", lines=True).set_index("id")["label_name"]
    labels = pd.read_csv(tmp_path / "labels.csv")
    machine = labels[labels["source"] == "machine"]
    assert len(machine) > 2000
    assert (posts[machine["id"]].to_numpy() != machine["label"]).mean() <= 0.05
    digits = pd.read_parquet(tmp_path / "handwriting.parquet")
    assert (digits["id"].str[0] != digits["label"]).mean() <= 0.05
    assert {"human", "machine"} == set(digits["source"])
    questions = pd.read_csv(tmp_path / "questions.csv")
    assert len(questions) == 20
    assert questions["label"].isna().all()
