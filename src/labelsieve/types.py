"""What the rooms hand to each other: arrays with a meaning, frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import entr, softmax

from labelsieve.errors import DataError

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Label: TypeAlias = str | int


def to_numpy(values: Any) -> Array:
    """Any array-like as numpy; tensors are detached and brought to the CPU without importing torch here."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        if str(values.dtype) == "torch.bfloat16":  # numpy has no such type
            values = values.float()
    return np.asarray(values)


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a classifier says about n points: ``logits`` (n, k) and the layer before them, ``features`` (n, d).

    There is no label of these points in it, so nothing that takes ``Outputs`` can use one. ``find_evidence`` computes
    what the classifier knows of them beside its logits, from the points it was trained on.
    """

    logits: Floats
    features: Floats
    find_evidence: Callable[[], Floats] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("logits", "features"):
            object.__setattr__(self, name, to_numpy(getattr(self, name)))
        if self.logits.ndim != 2 or self.features.ndim != 2:
            raise DataError(
                "Outputs needs logits of shape (n, k) and features of shape (n, d); "
                f"got {self.logits.shape} and {self.features.shape}."
            )
        if len(self.logits) != len(self.features):
            raise DataError(
                f"Outputs needs one row of features per row of logits; "
                f"got {len(self.logits)} rows of logits and {len(self.features)} of features."
            )

    def __len__(self) -> int:
        return len(self.logits)

    def __getitem__(self, rows: Any) -> Outputs:
        of_rows = None if self.find_evidence is None else lambda: np.asarray(self.evidence[rows])
        return Outputs(self.logits[rows], self.features[rows], of_rows)

    @cached_property
    def evidence(self) -> Floats:
        """Columns (n, m), higher where the predicted class is likelier to be right; m is 0 if nothing is known."""
        return np.empty((len(self), 0)) if self.find_evidence is None else self.find_evidence()

    @cached_property
    def probabilities(self) -> Floats:
        """Softmax of the logits, in double precision so that near-certain points do not all tie at 1."""
        return np.asarray(softmax(self.logits.astype(np.float64), axis=1))

    @cached_property
    def top_probabilities(self) -> Floats:
        """The largest probability of each point, without the others: with many classes those take most of the time."""
        logits = self.logits.astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        return np.asarray(1 / np.exp(logits, out=logits).sum(axis=1))

    @cached_property
    def margins(self) -> Floats:
        """Difference between the two largest softmax probabilities."""
        rows, others = np.arange(len(self)), self.logits.copy()
        largest = others[rows, self.predicted].astype(np.float64)
        others[rows, self.predicted] = -np.inf
        return np.asarray(-self.top_probabilities * np.expm1(others.max(axis=1) - largest))

    @cached_property
    def entropies(self) -> Floats:
        """Entropy of the softmax."""
        return np.asarray(entr(self.probabilities).sum(axis=1))

    @cached_property
    def predicted(self) -> Ints:
        """The class code with the largest logit."""
        return np.asarray(self.logits.argmax(axis=1), dtype=np.int64)


def joined(parts: Sequence[Outputs]) -> Outputs:
    """Several classifiers' outputs as if they were one's, evidence included."""
    return Outputs(
        np.concatenate([part.logits for part in parts]),
        np.concatenate([part.features for part in parts]),
        lambda: np.concatenate([part.evidence for part in parts]),
    )


class Answer(NamedTuple):
    """What one person said about one item, with the id and the class as the project has them."""

    id: Any
    label: Label
    annotator: str


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """The held-out points a round set its thresholds on, as plotted in the report."""

    scores: Floats
    predicted: Ints
    correct: Bools


@dataclass(frozen=True, eq=False)
class RoundReport:
    """What one round did. Counts are of points; ``thresholds`` has one entry per class, infinity for none.

    ``confidence_fallback``: why softmax stood in for the confidence function, if it did. ``confidence_choice``: what
    an automatic one chose, and why. ``expected_machine_labels``: how many points of the pool the run could label in
    all, by its training labels, if it asked for no more of them; None if it did not estimate that. ``methods``:
    classifier, confidence function, threshold rule and query in words; None in rounds of versions that did not say.
    """

    number: int
    train_points: int
    calibration_points: int
    threshold_points: int
    thresholds: Floats
    machine_labelled: int
    retired_validation: int
    remaining: int
    queried_next: int
    model_fingerprint: str
    confidence_fallback: str | None
    confidence_choice: str | None
    seconds: float
    held_out: HeldOutScores = field(repr=False)
    expected_machine_labels: float | None = None
    methods: Mapping[str, str] | None = None
