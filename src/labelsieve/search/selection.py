"""Which combination wins (the paper, "Detailed experiments protocol")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelsieve.errors import SearchError
from labelsieve.search.measurement import Outcome


@dataclass(frozen=True)
class Choice:
    """The index of the winner, and why it won."""

    winner: int
    reason: str


def choose(outcomes: Sequence[Outcome], tolerance: float, rng: np.random.Generator) -> Choice:
    """The highest mean coverage among those whose mean error is within the tolerance.

    If none is, the lowest mean error among those that label something, whatever their coverage. A combination without
    any machine label has no error and no coverage: it wins only where none labels anything. Ties, that last case
    included, are settled by ``rng``. A combination that failed never wins; if all have, ``SearchError``.
    """
    sound = [index for index, outcome in enumerate(outcomes) if outcome.failure is None]
    if not sound:
        raise SearchError(
            f"Every combination must work for all seeds to be chosen; all {len(outcomes)} failed. The first: "
            f"{outcomes[0].failure} Try a grid with smaller learning rates."
        )
    if len(outcomes) == 1:
        return Choice(0, "the only combination")
    errors = {index: error for index in sound if (error := outcomes[index].error) is not None}
    within = [index for index, error in errors.items() if error <= tolerance]
    if within:
        best = max(outcomes[index].coverage for index in within)
        tied = [index for index in within if outcomes[index].coverage == best]
        reason = f"highest coverage of the {len(within)} of {len(outcomes)} combinations within the tolerance"
    elif errors:
        lowest = min(errors.values())
        tied = [index for index, error in errors.items() if error == lowest]
        reason = f"lowest error, since none of {len(outcomes)} combinations is within the tolerance"
    else:
        tied, reason = sound, f"drawn at random, since none of {len(outcomes)} combinations labels anything"
    if len(tied) > 1 and errors:
        reason += f"; drawn from {len(tied)} that tie"
    return Choice(tied[int(rng.integers(len(tied)))], reason)
