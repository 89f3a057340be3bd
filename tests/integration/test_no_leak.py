"""No label that was not asked for can change anything, and none that is held out what is learned or asked.

Every run is done twice, the second time with all labels that were never asked for replaced by a class that does not
exist: were one of them looked at, the run would fail or come out differently. Or with the held-out labels mixed up:
thresholds may differ then, and nothing before them.
"""

from __future__ import annotations

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import labelsieve as ls
from labelsieve import registry
from labelsieve.classifiers import Classifier
from labelsieve.engine.entries import Asked, Role
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


IMAGES, CLASSES = striped_images(600)
EMBEDDED = of_unit_length(IMAGES[:, :, :2])  # two columns, so that some are hard to tell
POOL = slice(0, 400)
HELD_OUT = slice(400, 600)
BY_DEFAULT = {
    "classes": 3, "train_budget": 50, "seed_size": 30, "batch_size": 10, "validation_budget": 150, "tolerance": 0.1,
    "progress": False,
}  # fmt: skip


def run_of_today(y, validation=None, **methods):
    """A run under the certified rule, and the questions it asked in their order."""
    annotator = ls.SimulatedAnnotator(y)
    run = ls.autolabel(EMBEDDED[POOL], annotator, validation=validation, **BY_DEFAULT | methods)
    return run, annotator.asked


def same_models(run, again) -> bool:
    return [report.model_fingerprint for report in run.rounds] == [report.model_fingerprint for report in again.rounds]


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("training", ["auto", "semi-supervised"])
@pytest.mark.parametrize("confidence", ["auto", "evidence"])
@pytest.mark.parametrize("classifier", ["kernel", "features"])
def test_defaults_of_the_certified_rule(classifier, confidence, training, given):
    """With validation data from outside the pool, and drawn from it."""
    settings = {"classifier": classifier, "confidence": confidence, "training": training}
    validation = (EMBEDDED[HELD_OUT], CLASSES[HELD_OUT]) if given else None
    run, asked = run_of_today(CLASSES[POOL], validation, **settings)
    scrambled = np.full(400, 77)
    scrambled[asked] = CLASSES[asked]
    again, asked_again = run_of_today(scrambled, validation, **settings)
    assert asked == asked_again
    assert same_models(run, again)
    assert_frame_equal(run.labels, again.labels)
    assert run.machine_labels > 50


def with_held_out_labels_mixed_up(given: bool, **methods):
    """Two runs, the second with other held-out labels, and what each of them asked."""
    mix = np.random.default_rng(1).permutation
    truth = CLASSES[POOL]
    if given:
        sides = [(truth, (EMBEDDED[HELD_OUT], y)) for y in (CLASSES[HELD_OUT], mix(CLASSES[HELD_OUT]))]
        return [run_of_today(y, validation, **methods) for y, validation in sides]
    first = run_of_today(truth, **methods)
    held_out = np.concatenate(
        [entry.points for entry in first[0].ledger if isinstance(entry, Asked) and entry.role == Role.VALIDATION]
    )
    mixed = truth.copy()
    mixed[held_out] = mix(truth[held_out])
    return [first, run_of_today(mixed, **methods)]


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("confidence", ["auto", "evidence", "softmax"])
@pytest.mark.parametrize("classifier", ["kernel", "embedding", "features", "logistic"])
def test_held_out_labels_reach_no_model_no_score_and_no_question(classifier, confidence, given):
    (run, asked), (again, asked_again) = with_held_out_labels_mixed_up(
        given, classifier=classifier, confidence=confidence
    )
    assert asked == asked_again
    assert same_models(run, again)
    last, last_again = run.rounds[-1], again.rounds[-1]
    assert last.confidence_choice == last_again.confidence_choice
    assert np.array_equal(last.held_out.scores, last_again.held_out.scores)
    assert last.held_out.correct.mean() > last_again.held_out.correct.mean() + 0.3  # labels did differ
    assert run.machine_labels > again.machine_labels == 0


@pytest.mark.parametrize("given", [True, False])
def test_scores_learned_from_held_out_labels_are_seen_to_be(given):
    """What is meant to learn from a part of them, the test above finds out."""
    (run, asked), (again, asked_again) = with_held_out_labels_mixed_up(
        given, classifier="logistic", confidence="temperature", calibration_fraction=0.2
    )
    assert asked == asked_again
    assert same_models(run, again)
    assert not np.array_equal(run.rounds[-1].held_out.scores, again.rounds[-1].held_out.scores)


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
