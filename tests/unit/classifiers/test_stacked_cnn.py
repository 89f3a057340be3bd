"""Many convolutional networks as one. On a CPU, Triton interprets in single precision what a GPU does in bf16."""

from __future__ import annotations

import importlib
import os

import numpy as np
import pytest
import torch
from torch.nn import functional

from labelsieve.classifiers.networks import SimpleCNN
from labelsieve.classifiers.stacked_cnn import StackedCNN, convolutions_stack
from labelsieve.engine.requests import TrainClassifier
from labelsieve.engine.together import fit_together
from labelsieve.registry import create
from tests.problems import striped_images

CPU, GPU = torch.device("cpu"), torch.device("cuda")

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # read when Triton is imported


@pytest.fixture
def convolutions():
    pytest.importorskip("triton")
    if torch.cuda.is_available():
        pytest.skip("interprets nothing where there is a GPU: see below")
    return importlib.import_module("labelsieve.fitting.stacked_convolutions")


def relative(one: torch.Tensor, other: torch.Tensor) -> float:
    return ((one.double() - other).norm() / other.norm()).item()


@pytest.mark.parametrize(("channels", "maps", "side"), [(16, 32, 8), (32, 64, 6), (128, 256, 4)])
@pytest.mark.parametrize("halved", [False, True])
def test_convolutions_and_their_gradients(convolutions, channels, maps, side, halved):
    """More pixels than a block and not a multiple of it; members differ in weights and points."""
    m, b = 2, 5
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(m, b, side, side, channels, generator=rng).requires_grad_()
    weight = (torch.randn(m, 9 * channels, maps, generator=rng) / (9 * channels) ** 0.5).requires_grad_()
    bias = torch.randn(m, maps, generator=rng).requires_grad_()
    y = (convolutions.convolve_and_halve if halved else convolutions.convolve)(x, weight, bias)
    gradient = torch.randn(y.shape, generator=rng)
    found = (y, *torch.autograd.grad(y, (x, weight, bias), gradient))

    exact = [values.detach().double().requires_grad_() for values in (x, weight, bias)]
    members = []
    for pixels, own, own_bias in zip(*exact, strict=True):
        kernel = own.view(3, 3, channels, maps).permute(3, 2, 0, 1)
        maps_of_one = functional.relu(functional.conv2d(pixels.movedim(3, 1), kernel, own_bias, padding=1))
        members.append((functional.max_pool2d(maps_of_one, 2) if halved else maps_of_one).movedim(1, 3))
    y = torch.stack(members)
    expected = (y, *torch.autograd.grad(y, exact, gradient.double()))
    assert [relative(one, other) < 1e-6 for one, other in zip(found, expected, strict=True)] == [True] * 4


@pytest.mark.parametrize("point_shape", [(8, 8, 3), (8, 16), (64, 8, 1), (8, 8, 20)])
def test_networks_say_what_each_would_alone(convolutions, point_shape):
    """Images that are padded, grey, so high that their maps are averaged, or of many channels; gradients come back in
    each shape."""
    torch.manual_seed(0)
    modules = [SimpleCNN()(point_shape, 4) for _ in range(2)]
    stack = StackedCNN(modules, CPU, torch.float32)
    height, width, channels = (*point_shape, 1)[:3]
    points = torch.randn(2, 2, channels, height, width)
    logits, features = stack(points)
    for number, module in enumerate(modules):
        own_logits, own_features = module(points[number])
        torch.testing.assert_close(logits[number], own_logits, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(features[number], own_features, rtol=1e-4, atol=1e-5)

    gradients = torch.autograd.grad(logits.square().sum(), stack.weights)
    with torch.no_grad():  # one step of both
        for weight, gradient in zip(stack.weights, gradients, strict=True):
            weight -= 0.1 * gradient
        for number, module in enumerate(modules):
            with torch.enable_grad():
                own = torch.autograd.grad(module(points[number])[0].square().sum(), list(module.parameters()))
            for weight, gradient in zip(module.parameters(), own, strict=True):
                weight -= 0.1 * gradient
    others = [SimpleCNN()(point_shape, 4) for _ in range(2)]
    stack.write_back(others)
    for module, other in zip(modules, others, strict=True):
        for one, same in zip(module.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(same, one, rtol=1e-4, atol=1e-5)


def test_where_convolutions_are_one(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda device: (9, 0))
    monkeypatch.setenv("CC", "gcc")
    assert convolutions_stack(GPU, "bf16", (32, 32, 3))
    assert not convolutions_stack(CPU, "bf16", (32, 32, 3))
    assert not convolutions_stack(GPU, "full", (32, 32, 3))
    assert not convolutions_stack(GPU, "bf16", (28, 28))
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda device: (7, 5))
    assert not convolutions_stack(GPU, "bf16", (32, 32, 3))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not convolutions_stack(GPU, "bf16", (32, 32, 3))


def test_without_a_compiler_convolutions_are_not_one(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert not convolutions_stack(GPU, "bf16", (32, 32, 3))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("training", ["vanilla", "squentropy", "crl", "fmfp"])
def test_networks_learn_as_one(training):
    """Twice the same to the last digit, and as right as alone."""
    pytest.importorskip("triton")
    network = create("classifier", "cnn").with_training(create("training", training))
    network.set_params(precision="bf16", device="cuda", epochs=20)
    requests = [
        TrainClassifier(network, *striped_images(200, seed=number), n_classes=3, seed=number) for number in range(3)
    ]
    x, y = striped_images(300, seed=9)
    first, again = fit_together(requests), fit_together(requests)
    alone = fit_together(requests[:1])[0]
    for one, same in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.outputs(x).logits, same.outputs(x).logits)
    right, right_alone = (np.mean(model.outputs(x).predicted == y) for model in (first[0], alone))
    assert right > right_alone - 0.1
