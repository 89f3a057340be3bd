"""What a plan says. Everything that is shown is a field here, so the text and the JSON cannot disagree."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Basis = Literal["assumptions", "pilot accuracy", "pilot"]
Status = Literal["pays", "likely", "doubtful", "cannot"]


@dataclass(frozen=True)
class ValidationNeed:
    """Held-out labels without which no certified threshold can pass, over all groups of classes.

    ``at_least``: if all of them are right and lie above a threshold; None if the pool is too small for any number.
    ``likely``: the same if only the share lies above that the forecast's middle case expects; None where that is
    nothing, or where the pool does not have so many.
    """

    groups: int
    at_least: int | None
    likely: int | None


@dataclass(frozen=True)
class AuditNeed:
    """Labels after which a sequential audit can stop, if ``wrong_share`` of ``machine_labels`` are wrong (of the middle
    case; of the high one if the middle case has none).

    ``expected`` is the mean over simulated audits; ``nine_in_ten`` is enough for nine of ten of them.
    """

    wrong_share: float
    machine_labels: int
    expected: int
    nine_in_ten: int


@dataclass(frozen=True)
class Case:
    """One of three cases of the forecast: 90 % of the scenarios lie between the low and the high one.

    ``coverage``: machine labels over the whole pool, queried and held-out points counted. ``best_in_hindsight``: the
    coverage of a threshold chosen with all labels known. ``left_over``: points that neither machine nor budget labels.
    ``human_labels``: training, validation, audit and all that is left over. ``labels_saved``: against labelling
    everything by hand, the audit paid. Costs are None without a price, hours without minutes per label.
    """

    coverage: float
    best_in_hindsight: float
    machine_labels: int
    audit_labels: int
    left_over: int
    human_labels: int
    labels_saved: int
    cost: float | None
    cost_saved: float | None
    hours_saved: float | None


@dataclass(frozen=True)
class Verdict:
    """Whether auto-labelling pays, in a word and in sentences."""

    status: Status
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """A forecast, not a promise. ``low``, ``middle`` and ``high`` are cases of machine coverage."""

    pool_size: int
    classes: int
    tolerance: float
    delta: float
    candidates: int | None
    budget: int | None
    train_budget: int
    validation_budget: int
    audit_budget: int | None
    """Kept back for the audit when a total budget was to be split."""
    recommended_validation: int | None
    """None where no number of validation labels is forecast to certify anything."""
    coverage_limit: float
    joint: ValidationNeed
    per_class: ValidationNeed
    audit: tuple[AuditNeed, ...]
    low: Case
    middle: Case
    high: Case
    price: float | None
    minutes: float | None
    cost_by_hand: float | None
    hours_by_hand: float | None
    basis: Basis
    pilot_points: int | None
    pilot_accuracy: float | None
    pilot_auroc: float | None
    verdict: Verdict
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for strict JSON."""
        return asdict(self)
