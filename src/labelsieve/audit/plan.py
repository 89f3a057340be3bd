"""What is fixed before the first answer."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from labelsieve.audit.verdict import settled_at
from labelsieve.errors import ConfigurationError

BATCH_SIZE = 25
DELTA = 0.05
SEED = 0
SLICES = ("auto", "scores", "rounds", "none")
ROLLBACK_SHARE = 0.2
"""Part of δ set aside for rollback. It has to be paid whether rollback is used or not, so it is kept small: at a
tolerance of 5 % and δ = 5 %, it makes the audit of a faultless label set some six labels longer."""


@dataclass(frozen=True)
class AuditPlan:
    """Settings that may not change once an answer is known; ``planned_labels`` shapes the rollback and no more.

    The probability δ of any wrong statement is split: ``whole_level`` for the statement about all machine labels,
    ``rollback_level`` for those about a part. Both may be made from the same answers, whichever comes out better.
    """

    total: int
    tolerance: float
    delta: float
    seed: int
    planned_labels: int
    slices: str

    def __post_init__(self) -> None:
        check_share("tolerance", self.tolerance, "0.05 rules out that more than 5 % of the remaining labels are wrong")
        check_share("delta", self.delta, "0.05 is a confidence of 95 %")
        check_count("seed", self.seed, least=0)
        check_labels(self.planned_labels, self.total)
        if self.slices not in SLICES:
            raise ConfigurationError(f"slices must be one of {', '.join(SLICES)}; got {self.slices!r}.")

    @property
    def whole_level(self) -> float:
        """δ of the statement about all machine labels."""
        return self.delta if self.slices == "none" else (1 - ROLLBACK_SHARE) * self.delta

    @property
    def rollback_level(self) -> float:
        """δ of all statements about a part of them."""
        return 0.0 if self.slices == "none" else ROLLBACK_SHARE * self.delta


def default_labels(total: int, tolerance: float, delta: float) -> int:
    """A sensible M: enough for a label set half as wrong as tolerated, unless that takes more than half the set."""
    enough = settled_at(total, tolerance, delta / 2, tolerance / 2)
    if enough is not None and enough <= total // 2:
        return enough
    faultless = settled_at(total, tolerance, delta / 2, 0.0)
    return max(total // 2, total if faultless is None else faultless, 1)


def check_share(name: str, value: Any, example: str) -> None:
    """Refuse what does not lie strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ConfigurationError(f"{name} must lie strictly between 0 and 1 ({example}); got {value!r}.")


def check_count(name: str, value: Any, *, least: int) -> None:
    """Refuse what is not a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ConfigurationError(f"{name} must be a whole number from {least} on; got {value!r}.")


def check_labels(max_labels: Any, total: int) -> None:
    """Refuse an audit larger than what there is to audit."""
    check_count("max_labels", max_labels, least=1)
    if max_labels > total:
        raise ConfigurationError(
            f"An audit cannot ask for more labels than there are machine labels; got max_labels={max_labels:,} for "
            f"{total:,}. Lower it, or leave it out."
        )
