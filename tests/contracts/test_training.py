"""What every train-time method must do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import labelsieve as ls
from labelsieve import registry
from labelsieve.errors import ConfigurationError
from tests.problems import quick_classifier, quick_training, striped_images


@pytest.mark.parametrize("name", registry.BUILT_IN["training"])
class TestTrainingContract:
    def train(self, name, seed=0, n=150):
        method = quick_training(name)
        x, y = striped_images(n)
        unlabelled = {"unlabelled": striped_images(60, seed=8)[0]} if method.wants_unlabelled else {}
        return method, quick_classifier("mlp").with_training(method).fit(x, y, 3, seed=seed, **unlabelled)

    def test_learns(self, name):
        x, y = striped_images(300, seed=4)
        assert (self.train(name)[1].outputs(x).predicted == y).mean() > 0.9

    def test_same_seed_same_weights_and_another_seed_others(self, name):
        prints = [self.train(name, seed)[1].fingerprint() for seed in (0, 0, 1)]
        assert prints[0] == prints[1] != prints[2]

    def test_keeps_its_parameters_and_no_state(self, name):
        method, _ = self.train(name)
        assert vars(method) == method.get_params()
        assert clone(method).get_params() == method.get_params()

    def test_differs_from_plain_training(self, name):
        plain, this = (self.train(which)[1].fingerprint() for which in ("vanilla", name))
        assert (plain == this) == (name == "vanilla")

    def test_scikit_learn_classifiers_say_which_ones_work(self, name, small_run):
        if name in ("vanilla", "semi-supervised"):
            assert small_run(training=name).rounds
        else:
            with pytest.raises(ConfigurationError, match=r"scikit-learn.*'lenet', 'cnn', 'resnet', 'mlp'"):
                small_run(training=name)


def test_a_method_set_on_the_classifier_stays():
    from labelsieve.classifiers.training.crl import CRL

    x, y = striped_images(100)
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(y), classifier=quick_classifier("mlp").with_training(CRL(rank_weight=0.9)),
        train_budget=20, validation_budget=30, max_rounds=1, progress=False, thresholds="paper",
    )  # fmt: skip
    assert "CRL(rank_weight=0.9)" in run.settings["classifier"]
    assert np.isfinite(run.rounds[0].held_out.scores).all()
