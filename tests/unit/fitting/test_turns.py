"""Trainings that take turns on a device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from labelsieve.classifiers import TorchClassifier
from labelsieve.classifiers.networks import SimpleCNN
from labelsieve.engine.requests import TrainClassifier
from labelsieve.engine.together import fit_together
from labelsieve.fitting import turns
from labelsieve.fitting.turns import take_turns
from tests.problems import quick_classifier, quick_training, striped_images


def descent(name: str, steps: int, taken: list[str]) -> Iterator[None]:
    for _ in range(steps):
        taken.append(name)
        yield
    taken.append(f"{name} is down")


def test_a_step_of_each_until_all_are_down():
    taken: list[str] = []
    take_turns([descent("a", 1, taken), descent("b", 3, taken), descent("c", 2, taken)], torch.device("cpu"))
    assert taken == ["a", "b", "c", "a is down", "b", "c", "b", "c is down", "b is down"]


@pytest.mark.parametrize("training", ["vanilla", "squentropy", "crl", "fmfp"])
@pytest.mark.parametrize(
    "device", ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]
)
def test_networks_come_out_as_if_trained_alone(training, device, monkeypatch):
    """To the last digit: neither weights nor anything else is shared."""
    monkeypatch.setattr(TorchClassifier, "members_at_once", lambda *_: 3)
    how_many = []
    monkeypatch.setattr(
        "labelsieve.classifiers.torch_fitting.take_turns",
        lambda descents, device: how_many.append(len(descents)) or take_turns(descents, device),
    )
    requests = [
        TrainClassifier(
            quick_classifier("cnn")
            .with_training(quick_training(training))
            .set_params(learning_rate=rate, device=device),
            *striped_images(50, seed=number),
            n_classes=3,
            seed=number,
        )
        for number, rate in enumerate((0.01, 0.02, 0.01))
    ]
    together = fit_together(requests)
    assert how_many == [3]
    x, _ = striped_images(60, seed=9)
    for one, request in zip(together, requests, strict=True):
        alone = request.perform(lambda _share: None)
        assert one.fingerprint() == alone.fingerprint()
        np.testing.assert_array_equal(one.outputs(x).logits, alone.outputs(x).logits)


def test_how_many_take_turns(monkeypatch):
    """One on a CPU, which has nothing idle; on a GPU as many as it has room for, up to a limit."""
    x, _ = striped_images(50)
    assert TorchClassifier(SimpleCNN(), device="cpu").members_at_once(x, 3) == 1
    network = TorchClassifier(SimpleCNN(), device="cuda")
    monkeypatch.setattr("labelsieve.classifiers.torch_classifier.resolve_device", lambda _name: torch.device("cuda"))
    for room, expected in ((5, 5), (1_000, turns.MOST_AT_ONCE)):
        monkeypatch.setattr("labelsieve.classifiers.torch_classifier.members_that_pay", lambda *_, room=room: room)
        assert network.members_at_once(x, 3) == expected
