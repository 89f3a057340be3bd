"""The first round of a run, measured on points whose labels are known: what one measurement of a search is.

Draws and seeds are those of ``engine/loop.py``, so a measurement is about the very round that ``autolabel`` would do
with that seed and the same validation data.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.confidence.softmax import Softmax
from labelsieve.engine.methods import Methods
from labelsieve.engine.requests import FitConfidence, TrainClassifier
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.together import fit_together
from labelsieve.errors import CalibrationWarning
from labelsieve.search.measurement import Measurement, failed
from labelsieve.seeding import integer_seed
from labelsieve.types import Array, Bools, Floats, Ints, Outputs

_ROUND = 1
_DIVERGED = (ValueError, ArithmeticError)
"""What a fit raises that went wrong by its own numbers. Others, such as a lack of memory, end the search."""

Setting: TypeAlias = tuple[dict[str, Any], int]
"""Parameters, and the seed to try them with."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Points and their class codes."""

    x: Array
    y: Ints


@dataclass(frozen=True, eq=False)
class HeldOutOutputs:
    """What the classifier of one seed says about the points nobody trained it on."""

    validation: Outputs
    hyp: Outputs


@dataclass(frozen=True, eq=False)
class FirstRounds:
    """All that the first rounds of a search need: no pool, and no label but those that were given or asked for."""

    training: dict[int, Labelled]
    """By seed."""
    validation: Labelled
    hyp: Labelled
    n_classes: int
    methods: Methods
    settings: RunSettings

    def measure_training(self, work: Sequence[Setting]) -> list[Measurement]:
        """One measurement per setting of the classifier, by the score of its softmax."""
        return [
            outputs if isinstance(outputs, Measurement) else self._measured(outputs, Softmax(), seed)
            for (_, seed), outputs in zip(work, self.outputs(work), strict=True)
        ]

    def outputs(self, work: Sequence[Setting]) -> list[HeldOutOutputs | Measurement]:
        """Train these classifiers, all together; a failed measurement in place of the outputs of one that diverged."""
        requests = [
            TrainClassifier(
                clone(self.methods.classifier).set_params(**parameters),
                self.training[seed].x,
                self.training[seed].y,
                self.n_classes,
                integer_seed(seed, "classifier", _ROUND),
            )
            for parameters, seed in work
        ]
        return [self._said(model) for model in _fitted(requests)]

    def measure_confidence(self, work: Sequence[Setting], outputs: Mapping[int, HeldOutOutputs]) -> list[Measurement]:
        """One measurement per setting of the confidence function, given what the classifier of its seed says."""
        requests = []
        for parameters, seed in work:
            confidence = clone(self.methods.confidence).set_params(**parameters)
            rows = self._calibration(confidence, seed)
            requests.append(
                FitConfidence(
                    confidence,
                    outputs[seed].validation[rows],
                    self.validation.y[rows],
                    integer_seed(seed, "confidence", _ROUND),
                )
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)  # the measurement says so
            fitted = _fitted(requests)
        return [
            one if isinstance(one, Measurement) else self._measured(outputs[seed], one, seed)
            for (_, seed), one in zip(work, fitted, strict=True)
        ]

    def _said(self, model: Any) -> HeldOutOutputs | Measurement:
        if isinstance(model, Measurement):
            return model
        try:
            return HeldOutOutputs(model.outputs(self.validation.x), model.outputs(self.hyp.x))
        except _DIVERGED as error:
            return failed(str(error))

    def _measured(self, outputs: HeldOutOutputs, confidence: ConfidenceFunction, seed: int) -> Measurement:
        """Thresholds from the validation points that are not for calibration; machine labels for the D_hyp points."""
        try:
            scores, hyp_scores = confidence.score(outputs.validation), confidence.score(outputs.hyp)
        except _DIVERGED as error:
            return failed(f"{type(error).__name__}: {error}")
        if np.isnan(scores).any() or np.isnan(hyp_scores).any():
            return failed(f"The scores of {type(confidence).__name__} are not numbers: its training diverged.")
        setting = ~self._calibration(confidence, seed)
        predicted, truth = outputs.validation.predicted[setting], self.validation.y[setting]
        thresholds = self._thresholds(scores[setting], predicted, predicted == truth, outputs.hyp, hyp_scores, seed)
        accepted = hyp_scores >= thresholds[outputs.hyp.predicted]
        wrong = outputs.hyp.predicted[accepted] != self.hyp.y[accepted]
        return Measurement(
            len(accepted), int(accepted.sum()), int(wrong.sum()), fallback=getattr(confidence, "fallback_", None)
        )

    def _thresholds(
        self, scores: Floats, predicted: Ints, correct: Bools, hyp: Outputs, hyp_scores: Floats, seed: int
    ) -> Floats:
        """By the rule, for the classes with a training label; the D_hyp points stand for the pool."""
        seen = np.zeros(self.n_classes, dtype=bool)
        seen[self.training[seed].y] = True
        return self.methods.thresholds.estimate(
            scores,
            predicted,
            correct,
            self.n_classes,
            pool_scores=hyp_scores,
            pool_predicted=hyp.predicted,
            may_label=seen,
        )

    def _calibration(self, confidence: ConfidenceFunction, seed: int) -> Bools:
        methods = replace(self.methods, confidence=confidence)
        return methods.calibration_mask(self.settings, len(self.validation.y), seed, _ROUND)


def _fitted(requests: Sequence[TrainClassifier | FitConfidence]) -> list[Any]:
    """All together; if that fails, one by one to find out which, and a failed measurement in place of those."""
    try:
        return fit_together(requests)
    except _DIVERGED:
        return [_alone(request) for request in requests]


def _alone(request: TrainClassifier | FitConfidence) -> Any:
    try:
        return fit_together([request])[0]
    except _DIVERGED as error:
        return failed(f"{type(error).__name__}: {error}")
