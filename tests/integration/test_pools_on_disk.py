"""The same points give the same labels wherever they are kept, and memory does not grow with a pool on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import labelsieve as ls
from labelsieve.errors import AnnotatorError
from tests.problems import quick_classifier, striped_images


def labels_of(pool: Any, y: np.ndarray, **settings: Any) -> pd.DataFrame:
    run = ls.autolabel(
        pool, lambda ids: y[rows_of(ids)], train_budget=40, validation_budget=60, thresholds="paper", progress=False,
        **settings,
    )  # fmt: skip
    assert run.machine_labels > 0
    return run.labels


def rows_of(ids: np.ndarray) -> np.ndarray:
    """Row numbers, or the numbers in names like ``c/017.png``."""
    return np.array([int("".join(filter(str.isdigit, str(id_)))) for id_ in ids])


@pytest.mark.parametrize("classifier", ["logistic", "mlp"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_features(blobs, tmp_path, classifier, dtype):
    x, y = blobs[0].astype(dtype), blobs[1]
    np.save(tmp_path / "points.npy", x)
    pq.write_table(pa.table({"a": x[:, 0], "b": x[:, 1]}), tmp_path / "columns.parquet", row_group_size=70)
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), 2)
    pq.write_table(pa.table({"id": np.arange(300), "v": pairs}), tmp_path / "lists.parquet")
    expected = labels_of(x, y, classifier=quick_classifier(classifier))
    for pool in (
        tmp_path / "points.npy",
        str(tmp_path / "points.npy"),
        np.load(tmp_path / "points.npy", mmap_mode="r"),
        tmp_path / "columns.parquet",
        tmp_path / "lists.parquet",
    ):
        pd.testing.assert_frame_equal(labels_of(pool, y, classifier=quick_classifier(classifier)), expected)


def test_images(tmp_path):
    x, y = striped_images(300)
    names = [f"{'ab'[row >= 150]}/{row:03}.png" for row in range(300)]
    for name, image in zip(names, x, strict=True):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.fromarray(image).save(tmp_path / name)
    expected = labels_of(ls.Pool(x, ids=names), y, classifier=quick_classifier("lenet").set_params(epochs=15))
    found = labels_of(tmp_path, y, classifier=quick_classifier("lenet").set_params(epochs=15))
    pd.testing.assert_frame_equal(found, expected)


def test_a_run_begun_in_memory_goes_on_from_disk(blobs, tmp_path):
    x, y = blobs
    np.save(tmp_path / "points.npy", x)

    def leaves_early(ids):
        yield from y[ids[:5]].tolist()
        raise ConnectionError("gone home")

    with pytest.raises(AnnotatorError) as caught:
        begun(x, leaves_early)
    run = begun(tmp_path / "points.npy", lambda ids: y[ids], ledger=caught.value.ledger)
    pd.testing.assert_frame_equal(run.labels, begun(x, lambda ids: y[ids]).labels)


def begun(pool: Any, annotator: Any, **settings: Any) -> ls.Run:
    return ls.autolabel(
        pool, annotator, train_budget=40, validation_budget=60, thresholds="paper", progress=False, **settings
    )


def test_names_of_images_may_be_any_bytes(tmp_path):
    x, y = striped_images(300)
    for row, image in enumerate(x):
        with (tmp_path / f"caf\udce9{row:03}.png").open("wb") as file:
            Image.fromarray(image).save(file, format="png")
    run = begun(tmp_path, lambda ids: y[rows_of(ids)])
    assert run.labels["id"][0].startswith("caf\udce9")
    assert run.evaluate(y).coverage == run.coverage


MEASURED = """
import sys
import numpy as np
import labelsieve as ls
from labelsieve.confidence import Softmax
from labelsieve.engine.scoring import score_pool
from labelsieve.queries import MarginRandom

def memory(what):
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith(what))

classifier = ls.classifiers.TorchClassifier(ls.classifiers.MLP(hidden=(8,)), epochs=1, device="cpu")
x = np.random.default_rng(0).normal(size=(64, 250)).astype(np.float16)
classifier.fit(x, np.arange(64) % 2, 2, seed=0).outputs(x)
before = memory("VmRSS")
pool = ls.Pool(sys.argv[1] if sys.argv[2] == "path" else np.load(sys.argv[1], mmap_mode="r"))
rows = np.arange(len(pool))
rows = rows[rows % 1000 != 7]
score_pool(pool, rows, classifier, Softmax(), MarginRandom(), lambda done, total: None)
print(memory("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells how much memory a process took")
@pytest.mark.parametrize("given_as", ["path", "map"])
def test_memory_does_not_grow_with_the_pool(tmp_path, given_as):
    """200 MB on disk, gaps between the rows."""
    block = np.random.default_rng(0).normal(size=(10_000, 250)).astype(np.float16)
    points = np.lib.format.open_memmap(tmp_path / "points.npy", mode="w+", dtype=np.float16, shape=(400_000, 250))
    for start in range(0, len(points), len(block)):
        points[start : start + len(block)] = block
    points.flush()
    del points
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path / "points.npy"), given_as],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 120
