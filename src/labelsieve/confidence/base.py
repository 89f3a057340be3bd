"""What every confidence function shares."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import ClassVar, Self, final

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator

from labelsieve.errors import CalibrationWarning, DataError, NotFittedError
from labelsieve.types import Floats, Ints, Outputs

MIN_CALIBRATION_POINTS = 10
_SURE = 1e-12


class ConfidenceFunction(ABC, BaseEstimator):  # type: ignore[misc]
    """Scores how sure one can be of the class a classifier predicts; higher is surer.

    To add one: a file here with a subclass that stores its parameters unchanged and implements ``_fit`` (unless
    ``needs_fitting`` is False) and ``_score``; a line in ``registry.py``; a subclass of ``ConfidenceContract``
    in ``tests/contracts``; a row in ``docs/methods.md``. A ``random_state`` parameter left at None is filled in
    by the engine.

    ``score`` has no label argument, here or in any subclass: a score that knows the answer is a leak.
    """

    needs_fitting: ClassVar[bool] = True
    needs_raw_logits: ClassVar[bool] = False
    """Whether log-probabilities, all a scikit-learn classifier gives, are not enough."""
    warns_of_fallback: ClassVar[bool] = True
    """False where softmax is as good a choice as any other."""
    fallback_: str | None
    choice_: str | None = None
    """What a function that chooses has chosen, and why."""

    @property
    def training_folds(self) -> int:
        """Into how many parts to divide the training points, so that this learns from predictions for points a
        classifier has not seen; 0 to learn from a calibration split of the validation points instead."""
        return 0

    def expected_coverage(self, scores: Floats, tolerance: float) -> float | None:
        """What share of points with these scores a threshold may be expected to let through, by the labels this was
        fitted on; None if it has no idea."""
        return None

    def coverage_to_test(self, scores: Floats, tolerance: float) -> float | None:
        """Where a certified rule should look for the threshold, if that is known well enough to stake most of delta on
        it: what is expected, unless there is a reason not to."""
        return self.expected_coverage(scores, tolerance)

    @final
    def fit(self, outputs: Outputs, y: Ints) -> Self:
        """Learn from calibration points: what the classifier said, and the true class codes."""
        y = self._checked(outputs, y)
        if self.needs_fitting and not self.fallback_:
            self._fit(outputs, y)
        return self

    @final
    @classmethod
    def fit_stack(cls, members: Sequence[Self], outputs: Sequence[Outputs], ys: Sequence[Ints]) -> None:
        """Fit members with one ``stack_key`` on calibration points of their own, all at once."""
        checked = [member._checked(said, y) for member, said, y in zip(members, outputs, ys, strict=True)]
        able = [number for number, member in enumerate(members) if not member.fallback_]
        if able:
            cls._fit_stack([members[i] for i in able], [outputs[i] for i in able], [checked[i] for i in able])

    def stack_key(self, outputs: Outputs) -> Hashable:
        """Functions with the same key can be fitted to outputs like these as one; None if this one cannot."""
        return None

    def members_at_once(self, outputs: Outputs) -> int:
        """How many functions with this key to fit as one."""
        return 1

    @final
    def _checked(self, outputs: Outputs, y: Ints) -> Ints:
        """The labels, if these points can be learned from; says if they cannot."""
        self.check_parameters()
        y = np.asarray(y)
        if len(outputs) != len(y):
            raise DataError(f"fit needs one label per point; got {len(outputs)} points and {len(y)} labels.")
        n_classes = outputs.logits.shape[1]
        if len(y) and not (y.dtype.kind in "iu" and 0 <= y.min() <= y.max() < n_classes):
            raise DataError(f"fit needs class codes 0 to {n_classes - 1} as labels; got {np.unique(y)[:10]}.")
        self.fallback_ = self._too_little_to_learn_from(outputs, y) if self.needs_fitting else None
        if self.fallback_ and self.warns_of_fallback:
            warnings.warn(
                f"{type(self).__name__} cannot be learned: {self.fallback_}. Softmax is used instead; "
                f"{self._what_would_help()} would help.",
                CalibrationWarning,
                stacklevel=2,
            )
        self.n_classes_ = n_classes
        return y if y.dtype == np.int64 else y.astype(np.int64)

    @final
    def score(self, outputs: Outputs) -> Floats:
        """Confidence (n,) in each point's predicted class."""
        if self.needs_fitting and not hasattr(self, "n_classes_"):
            raise NotFittedError(f"{type(self).__name__} must be fitted before it scores: call fit(outputs, y).")
        if hasattr(self, "n_classes_") and outputs.logits.shape[1] != self.n_classes_:
            raise DataError(
                f"{type(self).__name__} was fitted for {self.n_classes_} classes; got {outputs.logits.shape[1]}."
            )
        score = top_probability(outputs) if getattr(self, "fallback_", None) else self._score(outputs)
        score = np.asarray(score, dtype=np.float64)
        if score.shape != (len(outputs),):
            raise DataError(
                f"{type(self).__name__} must give one score per point, shape ({len(outputs)},); got {score.shape}."
            )
        return score

    def check_parameters(self) -> None:
        """Raise ``ConfigurationError`` if a parameter cannot work; called before anybody is asked for a label."""

    def _what_would_help(self) -> str:
        return (
            "more training labels"
            if self.training_folds
            else "more validation labels, or a larger calibration_fraction,"
        )

    @staticmethod
    def _too_little_to_learn_from(outputs: Outputs, y: Ints) -> str | None:
        """Why calibration points say nothing about when the classifier is right, if they do not."""
        if len(y) < MIN_CALIBRATION_POINTS:
            return f"it needs at least {MIN_CALIBRATION_POINTS} calibration points and got {len(y)}"
        if len(np.unique(y)) < 2:
            return f"all {len(y)} calibration points are of one class"
        right = int((outputs.predicted == y).sum())
        if right in (0, len(y)):
            return f"the classifier is {'right' if right else 'wrong'} on all {len(y)} calibration points"
        return None

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        """Only called when ``needs_fitting``; such classes implement it."""
        raise NotFittedError(f"{type(self).__name__} says it needs fitting but does not implement _fit.")

    @classmethod
    def _fit_stack(cls, members: Sequence[Self], outputs: Sequence[Outputs], ys: Sequence[Ints]) -> None:
        """Only called where ``stack_key`` is not None; such classes do it as one."""
        for member, said, y in zip(members, outputs, ys, strict=True):
            member._fit(said, y)

    @abstractmethod
    def _score(self, outputs: Outputs) -> Floats: ...


def top_probability(outputs: Outputs) -> Floats:
    """The largest softmax probability."""
    return outputs.top_probabilities


def log_odds(probabilities: Floats) -> Floats:
    return np.asarray(logit(np.clip(probabilities, _SURE, 1 - _SURE)))


def softmax_of_predicted(logits: Floats, outputs: Outputs) -> Floats:
    """The predicted class's share of the softmax of other logits than the classifier's own; these are overwritten."""
    logits -= logits.max(axis=1, keepdims=True)
    exponentials = np.exp(logits, out=logits)
    return np.asarray(of_predicted(exponentials, outputs) / exponentials.sum(axis=1))


def of_predicted(values: Floats, outputs: Outputs) -> Floats:
    """The entry of each row that belongs to the predicted class."""
    return np.asarray(values[np.arange(len(outputs)), outputs.predicted])
