"""Scoring reads ahead, keeps a few numbers per point, and ends cleanly whatever goes wrong."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import numpy as np
import pytest

from labelsieve import registry
from labelsieve.classifiers import SklearnClassifier
from labelsieve.confidence import Softmax
from labelsieve.data import pool as pool_module
from labelsieve.data.pool import Pool
from labelsieve.engine.reading_ahead import reading_ahead
from labelsieve.engine.scoring import score_pool
from labelsieve.queries import Coreset, MarginRandom, Random
from tests.problems import quick_classifier, striped_images


def reader_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("reading-ahead")]


@pytest.fixture
def small_chunks(monkeypatch):
    """Several chunks even of a small pool."""
    monkeypatch.setattr(pool_module, "_LARGEST_CHUNK", 32)


@pytest.fixture(scope="module")
def fitted():
    x, y = striped_images(120)
    return quick_classifier("logistic").fit(x, y, 3, seed=0)


class TestReadingAhead:
    def test_gives_the_same_items(self):
        assert list(reading_ahead(iter_of(range(1, 8)))) == list(range(1, 8))
        assert list(reading_ahead(iter_of([]))) == []

    def test_reads_the_next_item_while_one_is_in_use_and_no_more_than_two(self):
        read = []
        with closing(reading_ahead(iter_of(range(1, 8), read))) as items:
            assert next(items) == 1
            deadline = time.monotonic() + 5
            while len(read) < 3 and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(0.02)
            assert read == [1, 2, 3]

    def test_raises_what_the_reader_raised_after_the_items_before_it(self):
        def broken():
            yield 1
            yield 2
            raise OSError("the disk is gone")

        seen = []
        with pytest.raises(OSError, match="the disk is gone"):
            seen.extend(reading_ahead(broken()))
        assert seen == [1, 2]
        assert reader_threads() == []

    def test_ends_its_thread_and_the_reader_when_closed_early(self):
        closed = []

        def watched():
            try:
                yield from range(1, 100)
            finally:
                closed.append(True)

        with closing(reading_ahead(watched())) as items:
            next(items)
        assert closed == [True]
        assert reader_threads() == []


def iter_of(values, read=None):
    for value in values:
        if read is not None:
            read.append(value)
        yield value


@pytest.mark.parametrize("query", [MarginRandom(), Random(), Coreset()])
@pytest.mark.parametrize("rows", [np.arange(150), np.arange(0, 150, 2), np.array([149])])
def test_chunks_make_no_difference(small_chunks, fitted, query, rows):
    x = striped_images(150, seed=3)[0]
    scored = score_pool(Pool(x), rows, fitted, Softmax(), query, lambda done, total: None)
    outputs = fitted.outputs(x[rows])
    np.testing.assert_array_equal(scored.predicted, outputs.predicted)
    np.testing.assert_allclose(scored.score, Softmax().score(outputs))
    np.testing.assert_allclose(scored.query_summary, query.summary(outputs))
    assert scored.query_summary.dtype == query.summary(outputs).dtype


def test_progress_counts_points_from_none_to_all(small_chunks, fitted):
    told = []
    pool = Pool(striped_images(100)[0])
    score_pool(pool, np.arange(100), fitted, Softmax(), Random(), lambda done, total: told.append((done, total)))
    assert told == [(0, 100), (32, 100), (64, 100), (96, 100), (100, 100)]


def test_no_rows_no_scores(fitted):
    scored = score_pool(
        Pool(striped_images(9)[0]), np.arange(0), fitted, Softmax(), MarginRandom(), lambda done, total: None
    )
    assert (len(scored.predicted), len(scored.score), len(scored.query_summary)) == (0, 0, 0)


def test_a_model_that_fails_is_heard_and_the_reader_ends(small_chunks):
    class Fails(SklearnClassifier):
        def _outputs(self, x):
            raise MemoryError("too much")

    x, y = striped_images(150)
    broken = Fails(registry.create("classifier", "logistic").estimator).fit(x, y, 3, seed=0)
    with pytest.raises(MemoryError, match="too much"):
        score_pool(Pool(x), np.arange(150), broken, Softmax(), Random(), lambda done, total: None)
    assert reader_threads() == []


@pytest.mark.parametrize(
    ("shape", "dtype", "size"),
    [
        ((256,), np.float16, 8192),
        ((2,), np.float64, 8192),
        ((224, 224, 3), np.uint8, 128),
        ((10_000, 10_000), np.uint8, 1),
    ],
)
def test_chunks_are_sized_by_bytes(shape, dtype, size):
    class Shape:
        pass

    source = Shape()
    source.shape, source.dtype = (5, *shape), np.dtype(dtype)
    assert pool_module._chunk_size(source) == size
