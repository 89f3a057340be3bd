"""Training points left out in turn, to choose by their labels."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold

from labelsieve.types import Ints

_PARTS, _FEWEST = 3, 20


def left_out_in_turn(y: Ints, n_classes: int, seed: int) -> list[tuple[Ints, Ints]]:
    """Rows to learn from and rows left out, so that each is left out once. None where they could tell nothing: with few
    points, with fewer than one of each class in every part, or with parts that leave a single class."""
    if len(y) < max(_FEWEST, _PARTS * n_classes):
        return []
    parts = list(KFold(_PARTS, shuffle=True, random_state=seed).split(y))
    return [] if any(len(np.unique(y[seen])) < 2 for seen, _ in parts) else parts
