"""The paper's network and its Colander, for the experiments that the search has no part in."""

from __future__ import annotations

from experiments.paper.configuration import Protocol
from experiments.paper.methods import classifier, confidence
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction

AUTHORS_VALUES: dict[str, dict[str, float]] = {
    "mnist": {"alpha": 0.01, "penalty": 10.0, "learning_rate": 0.1, "weight_decay": 1.0},
    "cifar10": {"alpha": 0.1, "penalty": 100.0, "learning_rate": 0.01, "weight_decay": 0.1},
}
"""Of Colander, chosen by the authors' own search."""


def plain_network(protocol: Protocol, device: str) -> Classifier:
    """Plain training with the paper's settings, in the precision of the dataset's file."""
    made: Classifier = classifier(protocol, "vanilla").set_params(device=device)
    return made


def printed_colander(protocol: Protocol, device: str) -> ConfidenceFunction:
    """The printed form with the authors' values."""
    values = AUTHORS_VALUES[protocol.dataset]
    made: ConfidenceFunction = confidence(protocol, "colander").set_params(device=device, **values)
    return made


def kind_of_device(device: str) -> str:
    """For records, which may come from several computers; ``device`` may be ``"auto"``."""
    import torch

    on_gpu = torch.cuda.is_available() if device == "auto" else device.startswith("cuda")
    return "gpu" if on_gpu else "cpu"
