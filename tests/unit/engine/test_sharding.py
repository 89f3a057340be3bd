"""The pool in shards gives what the pool in one piece gives."""

from __future__ import annotations

import numpy as np
import pytest

import labelsieve as ls
from labelsieve.engine.requests import ScorePool
from labelsieve.engine.sharding import score_in_shards
from labelsieve.executors import LocalExecutor
from labelsieve.queries import MarginRandom

SHARD = 8192


class Backwards(LocalExecutor):
    """Finishes the last piece first, and counts pieces."""

    def map(self, function, items, common=()):
        self.pieces = len(items)
        yield from reversed(list(super().map(function, items, common)))


def request(n: int) -> ScorePool:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n + 50, 6)).astype(np.float32)
    y = (x[:200, 0] > 0).astype(np.int64)
    classifier = ls.classifiers.TorchClassifier(ls.classifiers.MLP((16,)), epochs=2, device="cpu")
    classifier.fit(x[:200], y, 2, seed=0)
    rows = np.sort(rng.permutation(n + 50)[:n])  # some rows are labelled already, wherever they lie
    return ScorePool(ls.Pool(x), rows, classifier, ls.confidence.Softmax(), MarginRandom())


@pytest.mark.parametrize(("n", "pieces"), [(5, 1), (SHARD, 1), (SHARD + 1, 2), (5 * SHARD + 77, 6)])
def test_shards_change_nothing(n, pieces):
    wanted, executor, told = request(n), Backwards(), []
    scored = score_in_shards(wanted, executor, lambda done, total: told.append((done, total)), shard_rows=SHARD)
    whole = wanted.perform(lambda _done, _total: None)
    assert np.array_equal(scored.score, whole.score)
    assert np.array_equal(scored.predicted, whole.predicted)
    assert np.array_equal(scored.query_summary, whole.query_summary)
    assert told[-1] == (n, n)
    assert told == sorted(told)
    assert getattr(executor, "pieces", 1) == pieces
