"""What every confidence function shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import BaseEstimator

from labelsieve.errors import DataError, NotFittedError
from labelsieve.types import Floats, Ints, Outputs


class ConfidenceFunction(ABC, BaseEstimator):  # type: ignore[misc]
    """Scores how sure one can be of the class a classifier predicts; higher is surer.

    To add one: a file here with a subclass that stores its parameters unchanged and implements ``_fit`` (unless
    ``needs_fitting`` is False) and ``_score``; a line in ``registry.py``; a subclass of ``ConfidenceContract`` in
    ``tests/contracts``. A ``random_state`` parameter left at None is filled in by the engine.

    ``score`` has no label argument, here or in any subclass: a score that knows the answer is a leak.
    """

    needs_fitting: ClassVar[bool] = True

    @final
    def fit(self, outputs: Outputs, y: Ints) -> Self:
        """Learn from calibration points: what the classifier said, and the true class codes."""
        y = np.asarray(y)
        if len(outputs) != len(y):
            raise DataError(f"fit needs one label per point; got {len(outputs)} points and {len(y)} labels.")
        n_classes = outputs.logits.shape[1]
        if len(y) and not (y.dtype.kind in "iu" and 0 <= y.min() <= y.max() < n_classes):
            raise DataError(f"fit needs class codes 0 to {n_classes - 1} as labels; got {np.unique(y)[:10]}.")
        if self.needs_fitting:
            self._fit(outputs, y.astype(np.int64))
        self.n_classes_ = n_classes
        return self

    @final
    def score(self, outputs: Outputs) -> Floats:
        """Confidence (n,) in each point's predicted class."""
        if self.needs_fitting and not hasattr(self, "n_classes_"):
            raise NotFittedError(f"{type(self).__name__} must be fitted before it scores: call fit(outputs, y).")
        if hasattr(self, "n_classes_") and outputs.logits.shape[1] != self.n_classes_:
            raise DataError(
                f"{type(self).__name__} was fitted for {self.n_classes_} classes; got {outputs.logits.shape[1]}."
            )
        return np.asarray(self._score(outputs), dtype=np.float64)

    def _fit(self, outputs: Outputs, y: Ints) -> Any:
        """Only called when ``needs_fitting``; such classes implement it."""
        raise NotFittedError(f"{type(self).__name__} says it needs fitting but does not implement _fit.")

    @abstractmethod
    def _score(self, outputs: Outputs) -> Floats: ...
