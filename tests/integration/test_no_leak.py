"""No label that was not asked for can change anything.

Every run is done twice, the second time with all labels that were never asked for replaced by a class that does not
exist: were one of them looked at, the run would fail or come out differently.
"""

from __future__ import annotations

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import labelsieve as ls
from labelsieve import registry
from labelsieve.classifiers import Classifier
from labelsieve.engine.entries import Asked
from tests.problems import NETWORKS, of_unit_length, quick_classifier, quick_training, striped_images
from tests.training_once import training_once

# Some rounds of these small problems leave too few calibration points, which is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore::labelsieve.errors.CalibrationWarning")

SETTINGS = {
    "tolerance": 0.2,
    "train_budget": 36,
    "validation_budget": 45,
    "thresholds": ls.thresholds.PaperRule(min_points=2),
    "progress": False,
}
# Apart, so that a training that looked at more than it is given would still be found out.
MODELS_OF_FIRST_RUNS: dict[str, Classifier] = {}
MODELS_OF_SECOND_RUNS: dict[str, Classifier] = {}


def run_and_scramble(**methods):
    x, truth = striped_images()
    y = np.array(["top", "middle", "bottom"], dtype=object)[truth]
    annotator = ls.SimulatedAnnotator(y)
    with training_once(MODELS_OF_FIRST_RUNS):
        run = ls.autolabel(x, annotator, **SETTINGS, **methods)
    scrambled = np.full(len(y), "garbage", dtype=object)
    scrambled[annotator.asked] = y[annotator.asked]
    with training_once(MODELS_OF_SECOND_RUNS):
        again = ls.autolabel(x, ls.SimulatedAnnotator(scrambled), **SETTINGS, **methods)
    return run, again, annotator


def assert_no_leak(**methods):
    run, again, annotator = run_and_scramble(**methods)
    assert_frame_equal(run.labels, again.labels)
    in_ledger = np.concatenate([entry.points for entry in run.ledger if isinstance(entry, Asked)])
    assert sorted(annotator.asked) == sorted(in_ledger.tolist())
    return run


@pytest.mark.parametrize("confidence", registry.BUILT_IN["confidence"])
@pytest.mark.parametrize("classifier", registry.BUILT_IN["classifier"])
def test_classifiers_and_confidence_functions(classifier, confidence):
    if classifier in ("logistic", "embedding", "kernel", "features") and confidence == "energy":
        with pytest.raises(ls.errors.ConfigurationError, match="needs a network's logits"):
            assert_no_leak(classifier=classifier, confidence=confidence)
        return
    run = assert_no_leak(classifier=quick_classifier(classifier), confidence=confidence)
    assert run.rounds


@pytest.mark.parametrize("confidence", registry.BUILT_IN["confidence"])
@pytest.mark.parametrize("training", registry.BUILT_IN["training"])
def test_train_time_methods_and_confidence_functions(training, confidence):
    assert_no_leak(classifier=quick_classifier("mlp"), training=quick_training(training), confidence=confidence)


@pytest.mark.parametrize("classifier", registry.BUILT_IN["classifier"])
def test_semi_supervised_classifiers(classifier):
    run = assert_no_leak(
        classifier=quick_classifier(classifier), training=quick_training("semi-supervised"), confidence="softmax"
    )
    assert run.rounds


@pytest.mark.parametrize("query", registry.BUILT_IN["query"])
@pytest.mark.parametrize("classifier", ["logistic", NETWORKS[0]])
def test_queries(query, classifier):
    assert_no_leak(classifier=quick_classifier(classifier), query=query)


@pytest.mark.parametrize("embeddings", [False, True])
@pytest.mark.parametrize("stop_early", [False, True])
@pytest.mark.parametrize("thresholds", registry.BUILT_IN["thresholds"])
def test_threshold_rules(thresholds, stop_early, embeddings):
    """Embeddings with points without labels to learn from."""
    x, y = striped_images(500)
    if embeddings:
        x = of_unit_length(x)
    annotator = ls.SimulatedAnnotator(y)
    settings = {
        "train_budget": 90, "seed_size": 30, "batch_size": 10, "validation_budget": 200, "thresholds": thresholds,
        "stop_early": stop_early, "progress": False, "classes": 3, "classifier": "auto" if embeddings else "logistic",
        "training": "semi-supervised" if embeddings else "vanilla",
    }  # fmt: skip
    run = ls.autolabel(x, annotator, **settings)
    scrambled = np.full(len(y), 77)
    scrambled[annotator.asked] = y[annotator.asked]
    again = ls.autolabel(x, ls.SimulatedAnnotator(scrambled), **settings)
    assert_frame_equal(run.labels, again.labels)
    assert run.machine_labels > 50
    assert [report.expected_machine_labels for report in run.rounds] == [
        report.expected_machine_labels for report in again.rounds
    ]
    if stop_early:
        assert run.rounds[-1].train_points < 90


def test_the_test_has_teeth():
    """A confidence function that peeks at the truth is caught."""
    x, truth = striped_images()
    annotator = ls.SimulatedAnnotator(truth)

    class Peeking(ls.confidence.ConfidenceFunction):
        needs_fitting = False

        def _score(self, outputs):
            hidden = np.array([annotator._labels[id_] for id_ in range(len(outputs))])
            return (outputs.predicted == hidden).astype(float)

    settings = SETTINGS | {"classifier": "logistic", "confidence": Peeking()}
    run = ls.autolabel(x, annotator, **settings)
    asked = set(annotator.asked)
    annotator._labels = {id_: label if id_ in asked else 99 for id_, label in enumerate(truth.tolist())}
    again = ls.autolabel(x, annotator, **settings)
    assert not run.labels.equals(again.labels)
