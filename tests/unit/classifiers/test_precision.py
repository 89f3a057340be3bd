"""Faster and less exact arithmetic still learns."""

from __future__ import annotations

import numpy as np
import pytest
from torch import nn

from labelsieve.classifiers import TorchClassifier
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


class Viewing(nn.Module):
    """Looks at its images as rows of numbers, which they can be in one layout of memory alone."""

    def __init__(self, point_shape, n_classes):
        super().__init__()
        self.convolution = nn.Conv2d(point_shape[-1], 4, 3, padding=1)
        self.head = nn.Linear(4 * point_shape[0] * point_shape[1], n_classes)

    def forward(self, x):
        features = self.convolution(x).view(len(x), -1)
        return self.head(features), features


def test_a_network_of_ones_own_gets_images_as_they_are_in_bf16():
    grey, y = striped_images(60)
    x = np.repeat(grey[..., None], 3, axis=3)
    classifier = TorchClassifier(Viewing, epochs=2, precision="bf16", device="cpu").fit(x, y, 3, seed=0)
    assert classifier.outputs(x).logits.shape == (60, 3)


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
