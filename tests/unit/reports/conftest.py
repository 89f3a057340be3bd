"""Small runs and their reports, made once: drawing takes longer than looking."""

from __future__ import annotations

from pathlib import Path

import pytest

import labelsieve as ls
from tests.unit.reports.runs import Labelled, label_blobs


@pytest.fixture(scope="session")
def labelled() -> Labelled:
    """A run of five classes that labels much of its pool, with some errors."""
    found = label_blobs(["ant", "bee", "cat", "dog", "elk"], spread=5.0, tolerance=0.1)
    assert 0 < len(found.run.evaluate(found.truth).wrong) < found.run.machine_labels
    return found


@pytest.fixture(scope="session")
def unlabelled() -> Labelled:
    """A run of hopeless noise in which no class gets a threshold."""
    found = label_blobs(range(5), spread=100.0, validation_budget=40)
    assert found.run.machine_labels == 0
    return found


@pytest.fixture(scope="session")
def with_truth(labelled: Labelled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the report on ``labelled``, the truth given."""
    folder = tmp_path_factory.mktemp("reports") / "with" / "truth"
    assert ls.write_report(labelled.run, folder, y_true=labelled.truth, title="Animals") == folder / "report.html"
    return folder


@pytest.fixture(scope="session")
def without_truth(labelled: Labelled, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the report on ``labelled``, the truth not known."""
    return ls.write_report(labelled.run, tmp_path_factory.mktemp("reports")).parent
