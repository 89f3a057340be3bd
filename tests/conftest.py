"""Small problems the tests share."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side; before anything loads a thread pool

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import labelsieve as ls


@pytest.fixture(scope="session")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """300 points of 3 classes that overlap a little."""
    return make_blobs(n_samples=300, centers=3, cluster_std=2.0, random_state=7)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of full-size datasets; tests that need it are skipped where it is not there."""
    folder = Path(os.environ.get("LABELSIEVE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("LABELSIEVE_DATA names no folder of datasets")
    return folder


@pytest.fixture
def small_run(blobs: tuple[np.ndarray, np.ndarray]) -> Any:
    """A function that runs the loop on ``blobs``; keywords override its settings."""

    def start(**settings: Any) -> ls.Run:
        x, y = blobs
        chosen = {
            "pool": x,
            "annotator": ls.SimulatedAnnotator(y),
            "classes": 3,
            "train_budget": 60,
            "validation_budget": 90,
            "classifier": "logistic",
            "thresholds": "paper",
            "progress": False,
        } | settings
        return ls.autolabel(chosen.pop("pool"), chosen.pop("annotator"), **chosen)

    return start
