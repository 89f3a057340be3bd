"""Every train-time method with every confidence function, by name, on handwritten digits."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_digits

import labelsieve as ls
from labelsieve import registry
from labelsieve.classifiers import Classifier
from tests.problems import quick_classifier, quick_training
from tests.training_once import training_once

PAPERS_TRAINING = ("vanilla", "squentropy", "crl", "fmfp")
PAPERS_CONFIDENCE = ("softmax", "temperature", "top-label-binning", "scaling-binning", "dirichlet", "colander")
MODELS: dict[str, Classifier] = {}


@pytest.mark.parametrize("confidence", registry.BUILT_IN["confidence"])
@pytest.mark.parametrize("training", registry.BUILT_IN["training"])
def test_combination(training, confidence):
    x, y = load_digits(return_X_y=True)
    x, y = x[:900], y[:900]
    with training_once(MODELS):
        run = ls.autolabel(
            x, ls.SimulatedAnnotator(y), classes=10, train_budget=150, validation_budget=400, max_rounds=2,
            classifier=quick_classifier("mlp").set_params(epochs=10), training=quick_training(training),
            confidence=confidence, progress=False, thresholds="paper",
        )  # fmt: skip
    outcome = run.evaluate(y)
    assert len(run.rounds) == 2
    assert all(report.confidence_fallback is None for report in run.rounds[:1])
    calibration, threshold = run.rounds[0].calibration_points, run.rounds[0].threshold_points
    made = registry.create("confidence", confidence)
    splits = made.needs_fitting and not made.training_folds
    assert (calibration, threshold) == ((200, 200) if splits else (0, 400))
    assert run.machine_labels > 50
    assert outcome.error < 0.25


def test_the_papers_methods_are_all_there():
    assert set(PAPERS_TRAINING) <= set(registry.BUILT_IN["training"])
    assert set(PAPERS_CONFIDENCE) <= set(registry.BUILT_IN["confidence"])
