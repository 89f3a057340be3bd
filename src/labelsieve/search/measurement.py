"""What one first round came to on the held-out points, and what several of them say together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """Of ``points`` held-out points, ``labelled`` got a machine label and ``wrong`` of those were wrong.

    ``failure``: why there is nothing to count, for example that training diverged. ``fallback``: why softmax stood in
    for the confidence function, if it did.
    """

    points: int
    labelled: int
    wrong: int
    failure: str | None = None
    fallback: str | None = None

    @property
    def error(self) -> float | None:
        """Share of wrong machine labels; None where there are none."""
        return self.wrong / self.labelled if self.labelled else None

    @property
    def coverage(self) -> float:
        """Share of the points that got a machine label."""
        return self.labelled / self.points if self.points else 0.0


def failed(reason: str) -> Measurement:
    """A fit that came to nothing."""
    return Measurement(0, 0, 0, failure=reason)


@dataclass(frozen=True)
class Outcome:
    """The measurements of one combination, one per seed.

    A mean error is over the seeds that labelled something: one that did not has none, and counting it as 0 would
    reward silence. If a single seed failed, the combination has.
    """

    measurements: Sequence[Measurement]

    @property
    def failure(self) -> str | None:
        """The first failure, if there is one."""
        return next((one.failure for one in self.measurements if one.failure), None)

    @property
    def error(self) -> float | None:
        return _mean(self._errors)

    @property
    def error_spread(self) -> float | None:
        return _spread(self._errors)

    @property
    def coverage(self) -> float:
        return _mean([one.coverage for one in self.measurements]) or 0.0

    @property
    def coverage_spread(self) -> float | None:
        return _spread([one.coverage for one in self.measurements])

    @property
    def _errors(self) -> list[float]:
        return [one.error for one in self.measurements if one.error is not None]


def _mean(values: Sequence[float]) -> float | None:
    """By ``fsum``, so that the same values in another order are a tie and not almost one."""
    return math.fsum(values) / len(values) if values else None


def _spread(values: Sequence[float]) -> float | None:
    """Standard deviation with n − 1; one value has none."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
