"""What a ledger is made of.

Points are numbered: 0 to n_pool - 1 are rows of the pool, and from n_pool on rows of validation data given up front.
Each entry holds arrays, so a million machine labels are one entry and not a million objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from labelsieve.types import Floats, Ints, Label, RoundReport


class Role(IntEnum):
    """What a human label is for. Calibration and threshold are the jobs of validation points in a round."""

    TRAIN = 1
    VALIDATION = 2
    CALIBRATION = 3
    THRESHOLD = 4
    REST = 5


@dataclass(frozen=True, eq=False)
class RunStarted:
    """What the ledger is about; a run can be continued only with the same."""

    n_pool: int
    n_given_validation: int
    random_state: int
    pool_fingerprint: str
    validation_fingerprint: str | None = None
    promise: str = ""


@dataclass(frozen=True, eq=False)
class ClassesNamed:
    """Class names in the order of their codes; further ones follow when classes are learned from the answers."""

    names: tuple[Label, ...]


@dataclass(frozen=True, eq=False)
class ValidationGiven:
    """Class codes of the validation data given up front."""

    labels: Ints


@dataclass(frozen=True, eq=False)
class Asked:
    """Points about to be shown to an annotator, and the probability with which each was chosen."""

    round_number: int
    role: Role
    points: Ints
    probabilities: Floats


@dataclass(frozen=True, eq=False)
class Answered:
    """Labels that came back, as class codes."""

    points: Ints
    labels: Ints
    annotator: str


@dataclass(frozen=True, eq=False)
class Assigned:
    """The job of held-out points in one round."""

    round_number: int
    role: Role
    points: Ints


@dataclass(frozen=True, eq=False)
class MachineLabelled:
    """Labels given by a model: class code, score and the threshold it reached."""

    round_number: int
    points: Ints
    labels: Ints
    scores: Floats
    thresholds: Floats
    model_fingerprint: str


@dataclass(frozen=True, eq=False)
class Retired:
    """Held-out points that lie where a round labelled by machine; later rounds do without them."""

    round_number: int
    points: Ints


@dataclass(frozen=True, eq=False)
class RoundClosed:
    """A round is over."""

    report: RoundReport


Entry = (
    RunStarted | ClassesNamed | ValidationGiven | Asked | Answered | Assigned | MachineLabelled | Retired | RoundClosed
)
