"""Machine labels in slices, from the safest outward, in an order that no answer of the audit can change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labelsieve.audit.labels import LabelSet
from labelsieve.errors import DataError
from labelsieve.types import Floats, Ints

BANDS = 10


@dataclass(frozen=True, eq=False)
class Slices:
    """``of``: the slice of each machine label by position, 0 the safest; ``names`` says what each one is."""

    kind: str
    names: tuple[str, ...]
    of: Ints

    def sizes(self) -> Ints:
        """Labels in each slice."""
        return np.bincount(self.of, minlength=len(self.names))

    def within(self, last: int) -> Ints:
        """Positions in the slices 0 to ``last``."""
        return np.flatnonzero(self.of <= last)


def slices_of(labels: LabelSet, kind: str) -> Slices | None:
    """Slices of the kind asked for; with "auto" by score if there are scores, else by round; None if there are none.

    - ``scores``: bands of about equal size by how far a score lies above the threshold it had to reach. Errors of a
      confidence function worth its name gather just above the threshold, in every class and round: the threshold is
      where the risk is as large as was tolerated, so the distance to it is comparable where the scores are not.
    - ``rounds``: earliest first, since the easiest points are labelled first, and every later round labels what
      earlier ones did not dare to.

    A bad order costs coverage and nothing else: what is promised holds in any order fixed beforehand.
    """
    if kind == "none":
        return None
    margins = _margins(labels)
    if kind == "scores" and margins is None:
        raise DataError(
            "Slices by score need a finite confidence and threshold for each machine label; the label file has "
            "none, or gaps. Use rounds, or none."
        )
    if margins is not None and kind != "rounds":
        return _bands(margins)
    rounds = labels.column("round")
    if rounds is None:
        if kind == "rounds":
            raise DataError("Slices by round need the round of each machine label; the label file has none. Use none.")
        return None
    numbers, of = np.unique(rounds, return_inverse=True)
    return Slices("rounds", tuple(f"round {number:g}" for number in numbers), np.asarray(of, dtype=np.int64))


def _margins(labels: LabelSet) -> Floats | None:
    scores, thresholds = labels.column("confidence"), labels.column("threshold")
    return None if scores is None or thresholds is None else scores - thresholds


def _bands(margins: Floats) -> Slices:
    """Equal margins share a band, so that no label is rolled back while its twin stays."""
    edges = np.unique(np.quantile(margins, np.arange(1, BANDS) / BANDS, method="higher"))
    from_below = np.searchsorted(edges, margins, side="right")
    numbers, of = np.unique(-from_below, return_inverse=True)
    lowest = np.full(len(numbers), np.inf)
    np.minimum.at(lowest, of, margins)
    names = tuple(f"score ≥ threshold + {low:.4g}" for low in lowest)
    return Slices("scores", names, np.asarray(of, dtype=np.int64))
