"""Small pools on which every method can show what it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from labelsieve import registry

NETWORKS = ("lenet", "cnn", "resnet", "mlp", "mlp-wide", "linear")


def striped_images(n: int = 150, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """16 × 16 grey images with a bright band at the top, in the middle or at the bottom, under noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    images = rng.normal(100, 25, size=(n, 16, 16))
    for row, label in enumerate(y):
        images[row, 5 * label : 5 * label + 6] += 60
    return images.clip(0, 255).astype(np.uint8), y


def of_unit_length(x: np.ndarray) -> np.ndarray:
    """The same points as directions from their middle, which the product takes for embeddings."""
    centred = x.reshape(len(x), -1) - x.mean()
    return centred / np.linalg.norm(centred, axis=1, keepdims=True)


def quick_classifier(name: str) -> Any:
    """A registered classifier, with as few epochs as the small problems need."""
    classifier = registry.create("classifier", name)
    if name == "resnet":
        return classifier.set_params(network=replace(classifier.network, width=4), epochs=6, batch_size=8, min_steps=0)
    return classifier.set_params(epochs=4, batch_size=8) if name in NETWORKS else classifier


def quick_training(name: str) -> Any:
    """A registered train-time method, in as few steps as the small problems need."""
    method = registry.create("training", name)
    return method.set_params(min_steps=0) if "min_steps" in method.get_params() else method
