"""What a GPU may record; and steps it has recorded do what they would have done one by one, random draws and batch
statistics included."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labelsieve.classifiers import TorchClassifier
from labelsieve.classifiers.networks import ResNet
from labelsieve.classifiers.training.vanilla import Vanilla
from labelsieve.registry import create

needs_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def outputs(training: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=330)
    x = (60 * y[:, None, None, None] + rng.integers(0, 100, (330, 32, 32, 3))).astype(np.uint8)
    method = create("training", training)
    network = create("classifier", "resnet").with_training(method)
    network.set_params(epochs=6, min_steps=0, device="cuda", precision="bf16")
    if training == "semi-supervised":
        network.training.set_params(min_steps=0)
        network.fit(x, y, 3, seed=1, unlabelled=x)
    else:
        network.fit(x, y, 3, seed=1)
    return network.outputs(x).logits


@needs_a_gpu
@pytest.mark.parametrize("training", ["vanilla", "squentropy", "crl", "fmfp", "semi-supervised"])
def test_the_same_network_comes_out(training: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = outputs(training)
    np.testing.assert_array_equal(outputs(training), recorded)
    monkeypatch.setattr(ResNet, "recordable", False)
    # With points without labels, other kernels may be chosen, and sums end in other digits.
    tolerance = 0.05 * np.abs(recorded).max() if training == "semi-supervised" else 0
    np.testing.assert_allclose(outputs(training), recorded, rtol=0, atol=tolerance)


class SomebodysMethod(Vanilla):
    """One that says nothing of its steps."""

    recordable = False


def somebodys_network(_point_shape: tuple[int, ...], n_classes: int) -> torch.nn.Module:
    return torch.nn.Linear(1, n_classes)


@pytest.mark.parametrize("name", ["lenet", "cnn", "resnet", "mlp", "linear"])
def test_what_may_be_recorded(name: str) -> None:
    """Our networks with our methods; a method or a network of somebody's own only if it says so."""
    network = create("classifier", name)
    for training in ("vanilla", "squentropy", "crl", "fmfp", "semi-supervised"):
        assert network.with_training(create("training", training))._recordable()
    assert not network.with_training(SomebodysMethod())._recordable()
    assert not TorchClassifier(somebodys_network)._recordable()
