"""Runs that differ in their confidence function alone train the same models; tests of many such runs do it once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import joblib
import pytest

from labelsieve.classifiers import Classifier
from labelsieve.engine.requests import TrainClassifier


@contextmanager
def training_once(models: dict[str, Classifier]) -> Iterator[None]:
    """A training that has been done before, with all that goes into it the same, takes its result from ``models``."""
    perform = TrainClassifier.perform

    def kept(step, progress):
        key = joblib.hash([step.classifier, step.x, step.y, step.n_classes, step.seed, step.unlabelled])
        if key not in models:
            models[key] = perform(step, progress)
        return models[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainClassifier, "perform", kept)
        yield
