"""Asking so that validation points which wait for a later test stay like the pool."""

from __future__ import annotations

import numpy as np

from labelsieve.queries.base import Query, Selection
from labelsieve.types import Array, Ints


def select_and_thin(
    query: Query, pool: Array, waiting: Array, trained: Array, n: int, rng: np.random.Generator
) -> tuple[Selection, Ints]:
    """Which n rows of ``pool`` to ask about, and which rows of ``waiting`` to give up.

    The strategy chooses from both together, without knowing which is which. What it chooses from the pool is asked
    about; what it chooses from the waiting points is given up, and it chooses again in their place. So whatever makes a
    point likely to be asked about makes its like among the waiting points as likely to go, and the rest of both is as
    much a random split as before. All arrays are the strategy's summaries.
    """
    if not len(waiting):
        return query.select(pool, trained, n, rng), np.empty(0, dtype=np.int64)
    together = np.concatenate([pool, waiting])
    candidates = rng.permutation(len(together))  # ties are broken by position, which must not tell them apart
    rows, probabilities, given_up, wanted = [], [], [], n
    while wanted:
        selection = query.select(together[candidates], trained, wanted, rng)
        chosen = candidates[selection.rows]
        in_pool = chosen < len(pool)
        rows.append(chosen[in_pool])
        probabilities.append(selection.probabilities[in_pool])
        given_up.append(chosen[~in_pool] - len(pool))
        wanted -= int(in_pool.sum())
        trained = np.concatenate([trained, together[chosen]])
        candidates = np.delete(candidates, selection.rows)
    return Selection(np.concatenate(rows), np.concatenate(probabilities)), np.concatenate(given_up)
