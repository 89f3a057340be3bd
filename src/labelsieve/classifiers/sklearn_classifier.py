"""scikit-learn estimators as classifiers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from labelsieve import registry
from labelsieve.classifiers.base import Classifier, Progress, flattened
from labelsieve.classifiers.kernel_regression import KernelRegression
from labelsieve.classifiers.known_neighbours import Neighbourhoods
from labelsieve.classifiers.label_spreading import MOST_UNLABELLED, LabelSpreading
from labelsieve.classifiers.left_out import left_out_in_turn
from labelsieve.classifiers.scaling import InputScaler
from labelsieve.errors import ConfigurationError
from labelsieve.expectation import area_under_risk
from labelsieve.fitting.threads import threads_for
from labelsieve.types import Array, Floats, Ints, Outputs

if TYPE_CHECKING:
    from labelsieve.classifiers.training.semi_supervised import SemiSupervised

_SMALLEST_PROBABILITY = 1e-12
_ESTIMATORS = ("logistic", "embedding", "kernel")
"""Names of classifiers that are estimators of scikit-learn."""
_SCIKIT_LEARN = (*_ESTIMATORS, "features")
"""And of one that chooses among them."""
_QUICK, _SCALERS = (LogisticRegression, KernelRegression), (StandardScaler, Normalizer)


class SklearnClassifier(Classifier):
    """Any scikit-learn classifier with ``predict_proba``; logits are log-probabilities, features the inputs.

    ``scale_inputs`` centres and scales features first. It is off for estimators of your own, which may bring a
    pipeline or need their inputs as they are. ``training`` may be ``SemiSupervised``: labels then also spread over a
    graph of neighbours, if that helps with training labels left out.
    """

    gives_raw_logits: ClassVar[bool] = False

    def __init__(self, estimator: Any, scale_inputs: bool = False, training: SemiSupervised | None = None) -> None:
        self.estimator = estimator
        self.scale_inputs = scale_inputs
        self.training = training
        self._known_neighbours = Neighbourhoods()
        self._spreads: bool | None = None

    def __sklearn_clone__(self) -> Self:
        """A copy, to be fitted to nearly the same points: what is known of their neighbours goes with it."""
        copied = type(self)(**{name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()})
        copied._known_neighbours, copied._spreads = self._known_neighbours, self._spreads
        return copied

    def __str__(self) -> str:
        """For people: its name, if it has one; else what it is made of."""
        name = _names_by_parameters().get(repr(type(self)(self.estimator, self.scale_inputs)))
        if name is None:
            return repr(self)
        return name if self.training is None else f"{name}, training={self.training!r}"

    @property
    def trains_in_seconds(self) -> bool:
        """Those of this package do; who knows what an estimator of somebody's own takes?"""
        *before, last = self._steps
        return type(last) in _QUICK and all(type(step) in _SCALERS for step in before)

    @property
    def _steps(self) -> list[Any]:
        return [step for _, step in self.estimator.steps] if isinstance(self.estimator, Pipeline) else [self.estimator]

    def settled(self) -> SklearnClassifier:
        copied: SklearnClassifier = clone(self)
        copied._spreads = self.spreading_ is not None
        return copied

    @property
    def unlabelled_wanted(self) -> int:
        return 0 if self.training is None else min(MOST_UNLABELLED, self.training.n_unlabelled)

    def with_training(self, method: Any) -> SklearnClassifier:
        from labelsieve.classifiers.training.semi_supervised import SemiSupervised
        from labelsieve.classifiers.training.vanilla import Vanilla

        if isinstance(method, Vanilla | SemiSupervised):
            training = None if isinstance(method, Vanilla) else method
            copied: SklearnClassifier = clone(self).set_params(training=training)
            copied._known_neighbours = Neighbourhoods()  # each run its own
            return copied
        networks = [name for name in registry.names("classifier") if name not in _SCIKIT_LEARN]
        raise ConfigurationError(
            f"training {type(method).__name__!r} changes gradients, and {type(self.estimator).__name__} is trained by "
            f"scikit-learn. Use training='vanilla' or 'semi-supervised', or one of the classifiers "
            f"{', '.join(map(repr, networks))}."
        )

    def check(self, x: Array, n_classes: int) -> None:
        """Nothing can be said before it is fitted: estimators differ in how many points they need."""

    def fingerprint(self) -> str:
        return self.fingerprint_

    def _fit(self, x: Array, y: Ints, n_classes: int, seed: int, progress: Progress) -> None:
        self._learn(x, y, x[:0], n_classes, seed, progress)

    def _fit_with_unlabelled(
        self, x: Array, y: Ints, unlabelled: Array, n_classes: int, seed: int, progress: Progress
    ) -> None:
        if not self.unlabelled_wanted:
            return super()._fit_with_unlabelled(x, y, unlabelled, n_classes, seed, progress)
        self._learn(x, y, unlabelled, n_classes, seed, progress)

    def _learn(self, x: Array, y: Ints, unlabelled: Array, n_classes: int, seed: int, progress: Progress) -> None:
        self.width_ = n_classes
        self.scaler_ = InputScaler(x) if self.scale_inputs else None
        rows = self._rows(x)
        self.estimator_ = self._fitted(rows, y, seed)
        taught = [repr(self.estimator), rows, y, seed]
        self.spreading_ = None
        if self.training is not None:
            others = self._rows(unlabelled)
            taught += [repr(self.training), others]
            if self._should_spread(rows, y, others, seed):
                self.spreading_ = self._spreading(self.estimator_, rows, y, others)
            self.choice_ = "labels spread" if self.spreading_ else "labels do not spread, since that would not help"
        # What it was taught, since an estimator of somebody's own need not be something that can be hashed.
        self.fingerprint_ = str(joblib.hash(taught))[:12]
        progress(1.0)

    def _fitted(self, rows: Array, y: Ints, seed: int) -> Any:
        estimator = clone(self.estimator)
        unset = {
            name: seed
            for name, value in estimator.get_params().items()
            if (name == "random_state" or name.endswith("__random_state")) and value is None
        }
        with threads_for(self._multiplications(rows)):
            return estimator.set_params(**unset).fit(rows, y)

    def _multiplications(self, rows: Array) -> int:
        """Of the largest product of matrices in a fit."""
        return int(rows.size * (len(rows) if isinstance(self._steps[-1], KernelRegression) else self.width_))

    def _should_spread(self, rows: Array, y: Ints, others: Array, seed: int) -> bool:
        """Whether labels that spread tell better than the estimator alone which labels of training points it has not
        seen it gets right. Where neighbours are seldom of one class, they do not."""
        if self._spreads is not None:
            return self._spreads
        parts = left_out_in_turn(y, self.width_, seed)
        if not parts:
            return True
        alone, joined = np.empty((2, len(y), self.width_))
        for seen, unseen in parts:
            estimator = self._fitted(rows[seen], y[seen], seed)
            spreading = self._spreading(estimator, rows[seen], y[seen], others)
            alone[unseen] = self._said(estimator, rows[unseen])
            joined[unseen] = spreading(rows[unseen], alone[unseen])
        risk_alone, risk_joined = (area_under_risk(p.max(axis=1), p.argmax(axis=1) == y) for p in (alone, joined))
        return risk_joined <= risk_alone

    def _spreading(self, estimator: Any, rows: Array, y: Ints, others: Array) -> LabelSpreading:
        assert self.training is not None
        return LabelSpreading(
            rows,
            y,
            others,
            self._said(estimator, others),
            self.width_,
            self.training.neighbours,
            self.training.spread,
            self._known_neighbours,
        )

    def _outputs(self, x: Array) -> Outputs:
        rows = self._rows(x)
        probabilities = self._said(self.estimator_, rows)
        if self.spreading_ is not None:
            probabilities = self.spreading_(rows, probabilities)
        logits = np.log(np.maximum(probabilities, _SMALLEST_PROBABILITY))
        return Outputs(logits, rows.astype(np.float32))

    def _said(self, estimator: Any, rows: Array) -> Floats:
        """An estimator's probabilities, with a column for every class."""
        probabilities = np.full((len(rows), self.width_), _SMALLEST_PROBABILITY)
        if len(rows):
            probabilities[:, estimator.classes_] = estimator.predict_proba(rows)
        return probabilities

    def _rows(self, x: Array) -> Array:
        return flattened(x if self.scaler_ is None else self.scaler_(x))


@cache
def _names_by_parameters() -> dict[str, str]:
    """Made once: scikit-learn takes milliseconds to describe an estimator."""
    return {repr(registry.create("classifier", name)): name for name in _ESTIMATORS}
