"""Faster and less exact arithmetic still learns."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.errors import ConfigurationError
from tests.problems import quick_classifier, quick_training, striped_images


@pytest.mark.parametrize("network", ["mlp", "lenet"])
def test_bf16_learns_what_full_precision_learns(network):
    """Weights rounded once and kept would stay where they began."""
    x, y = striped_images(200)
    unseen, truth = striped_images(300, seed=5)
    outputs = {
        precision: quick_classifier(network).set_params(precision=precision).fit(x, y, 3, seed=0).outputs(unseen)
        for precision in ("full", "bf16")
    }
    assert (outputs["bf16"].predicted == truth).mean() > (outputs["full"].predicted == truth).mean() - 0.03
    assert np.corrcoef(outputs["bf16"].logits.ravel(), outputs["full"].logits.ravel())[0, 1] > 0.99


def test_an_unknown_precision_is_refused():
    with pytest.raises(ConfigurationError, match="'full', 'tf32', 'bf16'; got 'half'"):
        quick_classifier("mlp").set_params(precision="half").check(striped_images(2)[0], 3)


@pytest.mark.parametrize("training", ["vanilla", "semi-supervised"])
def test_a_residual_network_learns_in_bf16(training):
    """Augmentation, batch statistics and the average that teaches included."""
    (x, y), (unseen, truth) = striped_images(200), striped_images(300, seed=5)
    classifier = quick_classifier("resnet").with_training(quick_training(training)).set_params(precision="bf16")
    unlabelled = {"unlabelled": unseen} if classifier.unlabelled_wanted else {}
    assert (classifier.fit(x, y, 3, seed=0, **unlabelled).outputs(unseen).predicted == truth).mean() > 0.9
