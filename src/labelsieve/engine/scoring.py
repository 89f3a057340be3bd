"""What a model says about the unlabelled pool, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.data.pool import Pool
from labelsieve.engine.points import Points
from labelsieve.engine.reading_ahead import reading_ahead
from labelsieve.queries.base import Query
from labelsieve.types import Array, Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class PoolScores:
    """Per row asked for: predicted class, its confidence, and what the query strategy wants to know."""

    predicted: Ints
    score: Floats
    query_summary: Array

    def at(self, rows: Ints | Bools) -> PoolScores:
        """Of these rows alone."""
        return PoolScores(self.predicted[rows], self.score[rows], self.query_summary[rows])


def score_pool(
    pool: Pool | Points,
    rows: Ints,
    classifier: Classifier,
    confidence: ConfidenceFunction,
    query: Query,
    progress: Callable[[int, int], None],
) -> PoolScores:
    """Points, logits and features live for one chunk only, and a few numbers per point remain.

    The next chunk is read while the model computes. ``progress`` is told how many of how many points are done.
    """
    predicted, score = np.empty(len(rows), dtype=np.int64), np.empty(len(rows))
    summary, done = np.empty(len(rows)), 0
    progress(done, len(rows))
    with closing(reading_ahead(pool.chunks(rows))) as chunks:
        for chunk in chunks:
            outputs = classifier.outputs(chunk)
            known = query.summary(outputs)
            if done == 0:  # only now does it show what a query wants to know
                summary = np.empty((len(rows), *known.shape[1:]), dtype=known.dtype)
            here = slice(done, done + len(chunk))
            predicted[here], score[here], summary[here] = outputs.predicted, confidence.score(outputs), known
            done += len(chunk)
            progress(done, len(rows))
    return PoolScores(predicted, score, summary)
