"""Expensive work is done once per item, survives interruption anywhere, and is never mixed up between models."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelsieve.data.embeddings import FeatureFile, FeatureSettings, compute, sentence_model
from labelsieve.data.embeddings.base import as_bytes, digests_of
from labelsieve.data.embeddings.per_item import kept_results
from labelsieve.data.embeddings.record_cache import RecordCache
from labelsieve.errors import ConfigurationError, DataError
from tests.unit.data.embeddings.samples import CountingModel, Listed, posts, silent


class Stop(Exception):
    """Raised from progress."""


def results(texts: list[str], folder: Path, model: Any, progress: Any = silent) -> Any:
    digests, _ = digests_of(Listed(texts), silent)
    return kept_results(model, Listed(texts), digests, folder, as_bytes, "counting", progress).take(digests)


def stop_after(calls: int) -> Any:
    left = [calls]

    def progress(what: str, done: int, total: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Stop

    return progress


def test_equal_items_are_computed_once(tmp_path: Path) -> None:
    model = CountingModel()
    values = results(["a", "b", "a", "a", "c"], tmp_path, model)
    assert sorted(model.asked) == [b"a", b"b", b"c"]
    assert np.array_equal(values[0], values[2])
    assert np.array_equal(values, model.compute([b"a", b"b", b"a", b"a", b"c"]))


@pytest.mark.parametrize("calls", [0, 1, 5, 17, 38])
def test_stopped_by_progress_and_resumed(tmp_path: Path, calls: int) -> None:
    first, second, whole = CountingModel(), CountingModel(), CountingModel()
    (tmp_path / "whole").mkdir()
    expected = results(posts(), tmp_path / "whole", whole)
    with pytest.raises(Stop):
        results(posts(), tmp_path, first, stop_after(calls))
    kept = len(first.asked) // 32 * 32  # a chunk is eight batches of four
    assert np.array_equal(results(posts(), tmp_path, second), expected)
    assert abs(len(second.asked) - (150 - kept)) <= 32
    assert second.asked == whole.asked[150 - len(second.asked) :]  # in the batches of an uninterrupted run


def test_only_new_and_changed_rows(tmp_path: Path) -> None:
    results(posts(40), tmp_path, CountingModel())
    model = CountingModel()
    texts = posts(40)
    texts[7] = "changed"
    results([*texts, "added", "added too"], tmp_path, model)
    assert sorted(model.asked) == [b"added", b"added too", b"changed"]
    again = CountingModel()
    results(texts[::-1], tmp_path, again)
    assert again.asked == []


def test_models_do_not_share(tmp_path: Path) -> None:
    one, other = CountingModel("one"), CountingModel("other")
    first, second = results(posts(20), tmp_path, one), results(posts(20), tmp_path, other)
    assert len(other.asked) == 20
    assert not np.array_equal(first, second)
    assert np.array_equal(results(posts(20), tmp_path, CountingModel("one")), first)


KILLED = """
import sys, time
from pathlib import Path
from tests.unit.data.embeddings.samples import CountingModel, posts
from tests.unit.data.embeddings.test_kept_results import results

class Slow(CountingModel):
    def compute(self, items):
        time.sleep(0.01)
        return super().compute(items)

results(posts(2000), Path(sys.argv[1]), Slow())
"""


def test_killed_and_resumed(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = CountingModel()
    expected = results(posts(2000), tmp_path / "whole", whole)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], env=environment)
    deadline = time.monotonic() + 60
    while sum(path.stat().st_size for path in tmp_path.glob("*.cache")) < 10_000:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    resumed = CountingModel()
    assert np.array_equal(results(posts(2000), tmp_path, resumed), expected)
    assert 0 < len(resumed.asked) < 1900
    assert resumed.asked == whole.asked[2000 - len(resumed.asked) :]


@pytest.mark.parametrize("cut", [1, 30, 46, 47, 48, 64, 65, 200])
def test_cut_off_file_loses_the_last_append_only(tmp_path: Path, cut: int) -> None:
    results(posts(64), tmp_path, CountingModel())  # two appends of 32
    (path,) = tmp_path.glob("*.cache")
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size - cut)
    model = CountingModel()
    expected = CountingModel().compute([text.encode() for text in posts(64)])
    assert np.array_equal(results(posts(64), tmp_path, model), expected)
    assert len(model.asked) == 32


def test_file_cut_off_in_its_first_line_starts_anew(tmp_path: Path) -> None:
    results(posts(8), tmp_path, CountingModel())
    (path,) = tmp_path.glob("*.cache")
    path.write_bytes(path.read_bytes()[:20])
    model = CountingModel()
    results(posts(8), tmp_path, model)
    assert len(model.asked) == 8


def test_a_damaged_record_is_computed_again(tmp_path: Path) -> None:
    results(posts(64), tmp_path, CountingModel())
    (path,) = tmp_path.glob("*.cache")
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)
    model = CountingModel()
    expected = CountingModel().compute([text.encode() for text in posts(64)])
    assert np.array_equal(results(posts(64), tmp_path, model), expected)
    assert len(model.asked) == 1


def test_digests_that_end_in_zero_are_told_apart(tmp_path: Path) -> None:
    digests = np.zeros((3, 32), dtype=np.uint8)
    digests[1, 0] = digests[2, 0] = digests[2, 30] = 1
    cache = RecordCache(tmp_path, "zeros", (2,), np.dtype(np.float32))
    cache.append(digests, np.arange(6).reshape(3, 2))
    again = RecordCache(tmp_path, "zeros", (2,), np.dtype(np.float32))
    assert again.has(digests).all()
    assert again.take(digests[::-1]).tolist() == [[4, 5], [2, 3], [0, 1]]


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    class Broken(CountingModel):
        def compute(self, items: list[bytes]) -> Any:
            return np.full((len(items), 6), np.nan)

    with pytest.raises(DataError, match=r"finite numbers.*row 0"):
        results(["a"], tmp_path, Broken())


def test_data_that_change_meanwhile_are_refused(tmp_path: Path) -> None:
    digests, _ = digests_of(Listed(["a", "b"]), silent)
    with pytest.raises(DataError, match="row 1"):
        kept_results(CountingModel(), Listed(["a", "c"]), digests, tmp_path, as_bytes, "counting", silent)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> list[CountingModel]:
    """Stands in for the sentence model; one for each time it is loaded."""
    loaded: list[CountingModel] = []

    def load(name: str, device: str) -> CountingModel:
        loaded.append(CountingModel(name))
        return loaded[-1]

    monkeypatch.setattr(sentence_model, "SentenceModel", load)
    return loaded


def features(texts: list[str], folder: Path, progress: Any = silent) -> FeatureFile:
    settings = FeatureSettings(text_model="fake", svd_dimensions=5)
    return compute("text", Listed(texts), folder, settings=settings, progress=progress)


def test_side_by_side_and_found_at_once(tmp_path: Path, counting: list[CountingModel]) -> None:
    file = features(posts(), tmp_path)
    assert file.parts == ["tf-idf 5", "fake 6"]
    assert np.load(file.path, mmap_mode="r", allow_pickle=False).shape == (150, 11)
    assert features(posts(), tmp_path) == file
    assert len(counting) == 1
    other = features([*posts(), "one more"], tmp_path)
    assert other.path != file.path
    assert counting[1].asked == [b"one more"]
    assert file.path.exists()


@pytest.mark.parametrize("calls", [0, 3, 20, 43, 47])
def test_stopped_anywhere_leaves_nothing_half_written(
    tmp_path: Path, counting: list[CountingModel], calls: int
) -> None:
    with pytest.raises(Stop):
        features(posts(), tmp_path, stop_after(calls))
    assert not list(tmp_path.glob("*.npy"))
    assert not list(tmp_path.glob(".*"))
    resumed = np.load(features(posts(), tmp_path).path)
    assert np.array_equal(resumed, np.load(features(posts(), tmp_path / "whole").path))


FULL = """
import resource, sys
from pathlib import Path
from labelsieve.data.embeddings import FeatureSettings, compute
from labelsieve.errors import DataError
from tests.unit.data.embeddings.samples import Listed, posts, silent
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
try:
    settings = FeatureSettings(text_model="none")
    compute("text", Listed(posts()), Path(sys.argv[1]), settings=settings, progress=silent)
except DataError as error:
    print(error)
"""


def test_full_disk(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="this system cannot limit the size of files")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    said = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], env=environment, capture_output=True, text=True)
    assert "the system says: File too large" in said.stdout, said.stderr
    assert not list(tmp_path.iterdir())


def test_append_to_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results(posts(32), tmp_path, CountingModel())
    (path,) = tmp_path.glob("*.cache")
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="No space left on device"):
        results(posts(64), tmp_path, CountingModel())
    assert path.read_bytes() == before


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="Not a directory"):
        features(posts(3), tmp_path / "file" / "folder")
