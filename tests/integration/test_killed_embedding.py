"""The command line killed while it computes features."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from labelsieve.cli.main import main
from labelsieve.data.embeddings.record_cache import CACHE_FILES
from labelsieve.store.database import Database
from tests.integration.posts import exported

KILLS = int(os.environ.get("LABELSIEVE_KILLS", "5"))
N_IMAGES = 5000
"""Ten chunks, each of which is kept when it is done."""


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Noise, brighter in one folder than in the other."""
    rng = np.random.default_rng(0)
    for number in range(N_IMAGES):
        folder = tmp_path / "images" / ("bright" if number % 2 else "dark")
        folder.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 200, (24, 24), dtype=np.uint8) + np.uint8(30 * (number % 2))
        Image.fromarray(pixels).save(folder / f"{number:04d}.png", compress_level=1)
    return tmp_path / "images"


def made(folder: Path, images: Path) -> Path:
    arguments = ["init", str(folder), "--data", str(images), "--classes", "bright,dark"]
    assert main([*arguments, "--train-budget", "60", "--validation-budget", "200"]) == 0
    config = folder / "labelsieve.toml"
    config.write_text(config.read_text().replace('classifier = "auto"', 'classifier = "logistic"'))
    return folder


def size_of(cache: Path) -> int:
    return cache.stat().st_size if cache.exists() else 0


def killed_at(folder: Path, cache: Path, size: int) -> None:
    """``labelsieve run``, ended without warning once it has kept so much."""
    command = [sys.executable, "-m", "labelsieve", "run", str(folder), "--simulate", "folder"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and size_of(cache) < size:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def test_killed_while_features_are_computed_it_ends_as_if_nothing_had_happened(tmp_path: Path, images: Path) -> None:
    calm, harried = (made(tmp_path / name, images) for name in ("calm", "harried"))
    assert main(["run", str(calm), "--simulate", "folder"]) == 0
    pixels = max((calm / "features").glob(CACHE_FILES), key=size_of)
    total, cache = size_of(pixels), harried / "features" / pixels.name
    rng = random.Random(KILLS)
    for _ in range(KILLS):
        kept = size_of(cache)
        if kept > 0.7 * total:  # begin again, so that there is something to kill
            for file in (harried / "features").iterdir():
                file.unlink()
            kept = 0
        killed_at(harried, cache, round(kept + rng.uniform(0.05, 0.8) * (total - kept)))
        assert kept < size_of(cache) <= total
        assert not list((harried / "features").glob("*.npy"))
        with Database(harried / "project.sqlite") as database:
            assert database.is_whole()
    assert main(["run", str(harried), "--simulate", "folder"]) == 0
    features = [next((folder / "features").glob("*.npy")).read_bytes() for folder in (calm, harried)]
    assert features[0] == features[1]
    labels = exported(calm)
    assert set(labels["source"]) == {"human", "machine"}
    pd.testing.assert_frame_equal(exported(harried), labels)
