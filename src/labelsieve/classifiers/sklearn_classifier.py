"""scikit-learn estimators as classifiers."""

from __future__ import annotations

from typing import Any, ClassVar

import joblib
import numpy as np
from sklearn.base import clone

from labelsieve import registry
from labelsieve.classifiers.base import Classifier, Progress, flattened
from labelsieve.classifiers.scaling import InputScaler
from labelsieve.errors import ConfigurationError
from labelsieve.types import Array, Ints, Outputs

_SMALLEST_PROBABILITY = 1e-12


class SklearnClassifier(Classifier):
    """Any scikit-learn classifier with ``predict_proba``; logits are log-probabilities, features the inputs.

    ``scale_inputs`` centres and scales features first. It is off for estimators of your own, which may bring a
    pipeline or need their inputs as they are.
    """

    gives_raw_logits: ClassVar[bool] = False

    def __init__(self, estimator: Any, scale_inputs: bool = False) -> None:
        self.estimator = estimator
        self.scale_inputs = scale_inputs

    def with_training(self, method: Any) -> SklearnClassifier:
        from labelsieve.classifiers.training.vanilla import Vanilla

        if isinstance(method, Vanilla):
            return self
        networks = [name for name in registry.names("classifier") if name != "logistic"]
        raise ConfigurationError(
            f"training {type(method).__name__!r} changes gradients, and {type(self.estimator).__name__} is trained by "
            f"scikit-learn. Use training='vanilla', or one of the classifiers {', '.join(map(repr, networks))}."
        )

    def check(self, x: Array, n_classes: int) -> None:
        """Nothing can be said before it is fitted: estimators differ in how many points they need."""

    def fingerprint(self) -> str:
        return self.fingerprint_

    def _fit(self, x: Array, y: Ints, n_classes: int, seed: int, progress: Progress) -> None:
        self.width_ = n_classes
        self.scaler_ = InputScaler(x) if self.scale_inputs else None
        rows = self._rows(x)
        estimator = clone(self.estimator)
        unset = {
            name: seed
            for name, value in estimator.get_params().items()
            if (name == "random_state" or name.endswith("__random_state")) and value is None
        }
        self.estimator_ = estimator.set_params(**unset).fit(rows, y)
        # What it was taught, since an estimator of somebody's own need not be something that can be hashed.
        self.fingerprint_ = str(joblib.hash([repr(self.estimator), rows, y, seed]))[:12]
        progress(1.0)

    def _outputs(self, x: Array) -> Outputs:
        rows = self._rows(x)
        probabilities = np.full((len(rows), self.width_), _SMALLEST_PROBABILITY)
        probabilities[:, self.estimator_.classes_] = self.estimator_.predict_proba(rows)
        logits = np.log(np.maximum(probabilities, _SMALLEST_PROBABILITY))
        return Outputs(logits, rows.astype(np.float32))

    def _rows(self, x: Array) -> Array:
        return flattened(x if self.scaler_ is None else self.scaler_(x))
