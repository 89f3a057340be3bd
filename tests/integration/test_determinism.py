"""Same inputs and seed, same labels; another seed, other draws everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

import labelsieve as ls
from labelsieve.engine.entries import Asked, Assigned, Role
from tests.problems import quick_classifier, quick_training, striped_images


@pytest.mark.parametrize(
    ("classifier", "training"),
    [
        *((name, "vanilla") for name in ("logistic", "lenet", "mlp", "resnet")),
        *((name, "semi-supervised") for name in ("logistic", "lenet", "resnet")),
    ],
)
def test_same_seed_same_labels(classifier, training):
    x, y = striped_images(200)

    def once():
        return ls.autolabel(
            x, ls.SimulatedAnnotator(y), classifier=quick_classifier(classifier), training=quick_training(training),
            train_budget=40, validation_budget=60, tolerance=0.2, random_state=3, progress=False, thresholds="paper",
        )  # fmt: skip

    first, second = once(), once()
    assert_frame_equal(first.labels, second.labels)
    assert [r.model_fingerprint for r in first.rounds] == [r.model_fingerprint for r in second.rounds]


def draws(run):
    """Points of every random draw, by purpose."""
    asked = [entry for entry in run.ledger if isinstance(entry, Asked)]
    validation = next(entry.points for entry in asked if entry.role is Role.VALIDATION)
    seed_batch, first_query = (entry.points for entry in asked if entry.role is Role.TRAIN and entry.round_number < 2)
    return {"validation": validation, "seed batch": seed_batch, "query": first_query}


def test_another_seed_draws_otherwise(small_run):
    first, second = draws(small_run(random_state=0)), draws(small_run(random_state=1))
    for purpose, points in first.items():
        assert set(points.tolist()) != set(second[purpose].tolist()), purpose


@pytest.mark.filterwarnings("ignore::labelsieve.errors.CalibrationWarning")
def test_calibration_split_differs_by_seed_and_round(small_run):
    class Fitted(ls.confidence.ConfidenceFunction):
        def _fit(self, outputs, y):
            self.seen_ = len(y)

        def _score(self, outputs):
            return outputs.probabilities.max(axis=1)

    def splits(seed):
        # A rule that nothing passes keeps all validation points in use.
        run = small_run(random_state=seed, confidence=Fitted(), thresholds=ls.thresholds.PaperRule(min_coverage=1.1))
        return [e.points.tolist() for e in run.ledger if isinstance(e, Assigned) and e.role is Role.CALIBRATION]

    first, second = splits(0), splits(1)
    assert len(first[0]) == 45
    assert first[0] != second[0]
    assert first[0] != first[1]


def test_first_weights_differ_by_seed():
    x, y = striped_images(40)
    models = [quick_classifier("mlp").set_params(epochs=1).fit(x, y, 3, seed=seed) for seed in (0, 1)]
    assert not np.allclose(models[0].outputs(x).logits, models[1].outputs(x).logits)
