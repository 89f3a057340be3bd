"""The pool scored in shards, by whatever executor there is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.data.pool import Pool
from labelsieve.engine.points import Points
from labelsieve.engine.requests import ScorePool
from labelsieve.engine.scoring import PoolScores, score_pool
from labelsieve.executors.base import Executor
from labelsieve.queries.base import Query
from labelsieve.types import Ints

_BLOCK = 8192
"""A shard has a multiple of it, and the batches of ``score_pool`` divide it: each batch has the rows it would have
without shards, so that not even the last digit of a score differs."""


def score_in_shards(
    request: ScorePool, executor: Executor, progress: Callable[[int, int], None], *, shard_rows: int = 8 * _BLOCK
) -> PoolScores:
    """What ``request.perform`` gives, from contiguous shards of about ``shard_rows`` rows.

    The pool is common to all shards and all rounds, so an executor sends it to a place once; one that can be opened
    again by its path may travel as that path. Only rows, and a few numbers per row, go to and fro.
    """
    size = max(1, round(shard_rows / _BLOCK)) * _BLOCK
    shards = [request.rows[start : start + size] for start in range(0, len(request.rows), size)]
    if len(shards) < 2:
        return request.perform(progress)
    common = (request.pool, request.classifier, request.confidence, request.query)
    scored: dict[int, PoolScores] = {}
    for index, scores in executor.map(_score, shards, common):
        scored[index] = scores
        progress(sum(len(part.score) for part in scored.values()), len(request.rows))
    in_order = [scored[index] for index in range(len(shards))]
    return PoolScores(
        np.concatenate([part.predicted for part in in_order]),
        np.concatenate([part.score for part in in_order]),
        np.concatenate([part.query_summary for part in in_order]),
    )


def _score(
    rows: Ints, pool: Pool | Points, classifier: Classifier, confidence: ConfidenceFunction, query: Query
) -> PoolScores:
    return score_pool(pool, rows, classifier, confidence, query, lambda _done, _total: None)
