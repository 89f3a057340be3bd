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
    pool = ls.Pool(rng.normal(size=(n + 50, 6)).astype(np.float32))
    y = (pool.data[:200, 0] > 0).astype(np.int64)
    classifier = ls.classifiers.TorchClassifier(ls.classifiers.MLP((16,)), epochs=2, device="cpu")
    classifier.fit(pool.data[:200], y, 2, seed=0)
    rows = np.sort(rng.permutation(n + 50)[:n])  # some rows are labelled already, wherever they lie
    return ScorePool(pool, rows, classifier, ls.confidence.Softmax(), MarginRandom())


@pytest.mark.parametrize(("n", "pieces"), [(5, 1), (SHARD, 1), (SHARD + 1, 2), (5 * SHARD + 77, 6)])
def test_shards_change_nothing(n, pieces):
    wanted, executor, shares = request(n), Backwards(), []
    scored = score_in_shards(wanted, executor, shares.append, shard_rows=SHARD)
    whole = wanted.perform(lambda _share: None)
    assert np.array_equal(scored.score, whole.score)
    assert np.array_equal(scored.predicted, whole.predicted)
    assert np.array_equal(scored.query_summary, whole.query_summary)
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    assert getattr(executor, "pieces", 1) == pieces
