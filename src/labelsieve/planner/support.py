"""How many held-out points a certified threshold needs if not one of them is wrong."""

from __future__ import annotations

import math

import numpy as np

from labelsieve.bounds import unseen_p_value
from labelsieve.planner.result import ValidationNeed

_CHUNK = 128


def zero_error_support(tolerance: float, level: float, points: int) -> int | None:
    """Fewest of ``points`` which, drawn at random and all found right, show at ``level`` that of the others at most
    ``tolerance`` are wrong. None if no number is enough.

    59 at 5 % and 5 %, 299 at 1 % and 5 %, for a large pool; more for a small one, where one wrong point weighs more.
    """
    for start in range(1, points, _CHUNK):
        seen = np.arange(start, min(start + _CHUNK, points))
        unseen = points - seen
        enough = unseen_p_value(np.zeros_like(seen), seen, unseen, np.floor(tolerance * unseen)) <= level
        if enough.any():
            return int(seen[enough.argmax()])
    return None


def validation_need(
    *, tolerance: float, delta: float, candidates: int, groups: int, points: int, share_above: float
) -> ValidationNeed:
    """The need of ``groups`` thresholds, over equally large groups of the ``points`` that are not trained on.

    delta is shared by all candidates of all groups, as the certified rule does. ``share_above``: share of the points
    that the forecast expects above the thresholds.
    """
    level = delta / (candidates * groups)
    above = zero_error_support(tolerance, level, points // groups)
    likely = None
    if share_above > 0:
        fewer = zero_error_support(tolerance, level, math.floor(share_above * points / groups))
        likely = None if fewer is None else math.ceil(groups * fewer / share_above)
    return ValidationNeed(
        groups=groups,
        level=level,
        points_above=above,
        at_least=None if above is None else groups * above,
        likely=likely,
    )
