"""Classifiers: what the loop trains each round."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from labelsieve.classifiers.base import Classifier

_LAZY = {
    "BestOf": "labelsieve.classifiers.best_of",
    "TorchClassifier": "labelsieve.classifiers.torch_classifier",
    "SklearnClassifier": "labelsieve.classifiers.sklearn_classifier",
    "LeNet5": "labelsieve.classifiers.networks",
    "ResNet": "labelsieve.classifiers.networks",
    "SimpleCNN": "labelsieve.classifiers.networks",
    "MLP": "labelsieve.classifiers.networks",
}

__all__ = ["MLP", "BestOf", "Classifier", "LeNet5", "ResNet", "SimpleCNN", "SklearnClassifier", "TorchClassifier"]


def __getattr__(name: str) -> Any:
    """torch is loaded only when a network is asked for."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
