"""What a model says about the unlabelled pool, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.data.pool import Pool
from labelsieve.queries.base import Query
from labelsieve.types import Array, Floats, Ints

_CHUNK = 8192


@dataclass(frozen=True, eq=False)
class PoolScores:
    """Per row asked for: predicted class, its confidence, and what the query strategy wants to know."""

    predicted: Ints
    score: Floats
    query_summary: Array


def score_pool(
    pool: Pool,
    rows: Ints,
    classifier: Classifier,
    confidence: ConfidenceFunction,
    query: Query,
    progress: Callable[[float], None],
) -> PoolScores:
    """Logits and features live for one chunk only; a few numbers per point remain."""
    predicted, score, summary = [], [], []
    for start in range(0, len(rows), _CHUNK):
        outputs = classifier.outputs(pool.take(rows[start : start + _CHUNK]))
        predicted.append(outputs.predicted)
        score.append(confidence.score(outputs))
        summary.append(query.summary(outputs))
        progress(min(1.0, (start + _CHUNK) / len(rows)))
    return PoolScores(np.concatenate(predicted), np.concatenate(score), np.concatenate(summary))
