"""What the classifier and the confidence function of a round learn from."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from labelsieve.bounds import binomial_upper
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.methods import Methods
from labelsieve.engine.points import Points
from labelsieve.engine.requests import FitConfidence, Request, TrainClassifier
from labelsieve.engine.settings import RunSettings
from labelsieve.seeding import generator, integer_seed
from labelsieve.types import Array, Bools, Floats, Ints, Outputs, joined


class Modelling:
    """Requests for models, made of what the ledger says so far."""

    def __init__(
        self, points: Points, methods: Methods, settings: RunSettings, ledger: Ledger, classes_declared: bool
    ) -> None:
        self._points = points
        self._methods = methods
        self._settings = settings
        self._ledger = ledger
        self._classes_declared = classes_declared
        self._cross_predicted_right: Bools = np.empty(0, dtype=bool)

    def training_request(
        self, training: Ints, x_train: Array, number: int, like: Classifier | None = None
    ) -> TrainClassifier:
        """``like``: another classifier than the one of this run."""
        classifier = like or self._methods.classifier
        return TrainClassifier(
            classifier,
            x_train,
            self._ledger.state.label[training],
            self._n_outputs(),
            self._seed("classifier", number),
            self._unlabelled(training, classifier.unlabelled_wanted),
        )

    def confidence(
        self, model: Classifier, training: Ints, x_train: Array, calibration: Ints, number: int
    ) -> Generator[Request, Any, ConfidenceFunction]:
        """A confidence function for this model, fitted."""
        if self._methods.confidence.training_folds:
            return (yield from self._cross_fitted(model, training, x_train, number))
        return (yield from self._fitted(model, calibration, number))

    def expected_coverage(self, confidence: ConfidenceFunction, scores: Floats) -> float | None:
        """What share of points with these scores the function fitted last expects to pass, by training labels alone.

        Expected is what passes at the largest error of its own training points that would speak, at confidence
        1 - delta, for an error within the tolerance. None if these are so few that no error would; everything if all of
        them were predicted right, which leaves no mistake to learn from.
        """
        right = self._cross_predicted_right
        safe = binomial_upper(np.arange(len(right)), len(right), self._settings.delta) <= self._settings.tolerance
        if not safe.any():
            return None
        return 1.0 if right.all() else confidence.expected_coverage(scores, (int(safe.sum()) - 1) / len(right))

    def _fitted(self, model: Classifier, calibration: Ints, number: int) -> Generator[Request, Any, ConfidenceFunction]:
        """Learned from the calibration points whose class the model knows."""
        labels = self._ledger.state.label[calibration]
        known = labels < self._n_outputs()
        fitted: ConfidenceFunction = yield FitConfidence(
            self._methods.confidence,
            model.outputs(self._points.take(calibration[known])) if known.any() else _nothing(self._n_outputs()),
            labels[known],
            self._seed("confidence", number),
        )
        return fitted

    def _cross_fitted(
        self, model: Classifier, training: Ints, x_train: Array, number: int
    ) -> Generator[Request, Any, ConfidenceFunction]:
        """Learned from the training points, each predicted by a classifier like the model, trained without it."""
        labels, folds = self._ledger.state.label[training], self._methods.confidence.training_folds
        fold_of = generator(self._settings.random_state, "folds of training points", number).permutation(
            np.arange(len(training)) % folds
        )
        said, known = [], []
        for fold in range(folds):
            others, rows = fold_of != fold, np.flatnonzero(fold_of == fold)
            if len(np.unique(labels[others])) < 2:  # nothing to tell apart
                continue
            of_others: Classifier = yield self.training_request(
                training[others], x_train[others], number, like=model.settled()
            )
            said.append(of_others.outputs(x_train[rows]))
            known.append(labels[rows])
        outputs = joined(said) if said else _nothing(self._n_outputs())
        truth = np.concatenate(known) if known else labels[:0]
        self._cross_predicted_right = outputs.predicted == truth
        fitted: ConfidenceFunction = yield FitConfidence(
            self._methods.confidence, outputs, truth, self._seed("confidence", number)
        )
        return fitted

    def _unlabelled(self, training: Ints, n: int) -> Array | None:
        """At most so many points to learn from without their labels, for a classifier that wants some.

        Drawn among all points that do not train, whatever else they are for: what is left of the pool, what was
        labelled by machine, and held-out points, used, in use or waiting. A model that had seen the inputs of the pool
        alone would be surer of the pool's points than of held-out ones, these would no longer tell how often it is
        wrong in the pool, and a certificate would be void. Drawn on equal terms, both stay exchangeable.

        They are the first of those in one order for the whole run: nearly the same for all rounds and folds, so that
        what a classifier finds out about them in one fit may serve the next.
        """
        if not n:
            return None
        trains = np.zeros(len(self._ledger.state.label), dtype=bool)
        trains[training] = True
        order = generator(self._settings.random_state, "unlabelled").permutation(len(trains))
        drawn = order[~trains[order]][:n]
        return self._points.take(drawn[self._points.reading_order(drawn)])

    def _n_outputs(self) -> int:
        """Classes of the model. Those nobody has declared are counted up to the highest with a training label: what
        held-out labels name must not shape the model they are about to judge."""
        state = self._ledger.state
        if self._classes_declared:
            return len(state.classes)
        return int(state.label[state.training()].max()) + 1

    def _seed(self, purpose: str, number: int) -> int:
        return integer_seed(self._settings.random_state, purpose, number)


def _nothing(n_outputs: int) -> Outputs:
    return Outputs(np.empty((0, n_outputs)), np.empty((0, 0)))
