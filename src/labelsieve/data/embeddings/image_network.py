"""Features of images by pretrained networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.embeddings import efficientnet
from labelsieve.data.embeddings.base import ItemModel, needed_module, resolved, unit_rows
from labelsieve.data.embeddings.image_files import upright_image
from labelsieve.data.embeddings.sentence_model import digest_of_folder, digest_of_weights
from labelsieve.errors import ConfigurationError
from labelsieve.types import Array

_OPEN_CLIP = "open_clip:"


def network_identity(name: str) -> str:
    """What the numbers depend on, as far as it is known before the network is loaded."""
    if name in efficientnet.NAMES:
        return efficientnet.installed_identity(name)
    return f"{Path(name).name} {digest_of_folder(Path(name))}" if Path(name).is_dir() else name


def open_network(name: str, device: str) -> ItemModel:
    """The network of this name, on "cpu", "cuda" or, with "auto", on what there is."""
    if name in efficientnet.NAMES:
        return efficientnet.opened(name, device)
    return TorchvisionNetwork(name, device)


class TorchvisionNetwork:
    """A timm model by name or local folder, or an open_clip model by "open_clip:" and its name or "name/weights".

    Both need torchvision. No test runs them: it takes packages and weights that are not there when tests run.
    """

    dtype = np.dtype(np.float32)
    batch_size = 16

    def __init__(self, name: str, device: str) -> None:
        self._torch = needed_module("torch", f"The image model {name!r}", "pip install torch")
        opened = _open_clip_network if name.startswith(_OPEN_CLIP) else _timm_network
        try:
            network, self._prepare, self._embed = opened(name)
        except ConfigurationError:
            raise
        except Exception as error:  # of whatever kind the library has for names it does not know
            raise ConfigurationError(
                f"image_model must be 'auto', 'pixels', {efficientnet.BEST!r}, the name or folder of a timm model, or "
                f"{_OPEN_CLIP!r} and the name of an open_clip model; {name!r} cannot be loaded: {error}"
            ) from error
        self._device = resolved(self._torch, device)
        self._network = network.eval().to(self._device)
        self.identity = f"{name} {digest_of_weights(network)}"
        self.shape: tuple[int, ...] = self._features([np.zeros((32, 32, 3), dtype=np.uint8)]).shape[1:]

    def compute(self, items: list[bytes]) -> Array:
        """One row of features per file."""
        return self._features([np.asarray(upright_image(item)) for item in items])

    def _features(self, images: list[Array]) -> Array:
        pillow = needed_module("PIL.Image", "Reading images", "pip install pillow")
        inputs = self._torch.stack([self._prepare(pillow.fromarray(image)) for image in images]).to(self._device)
        with self._torch.inference_mode():
            return unit_rows(self._embed(self._network, inputs).float().cpu().numpy())


def _timm_network(name: str) -> tuple[Any, Any, Any]:
    timm = needed_module("timm", f"The image model {name!r}", "pip install timm torchvision")
    network = timm.create_model(f"local-dir:{name}" if Path(name).is_dir() else name, pretrained=True, num_classes=0)
    prepare = timm.data.create_transform(**timm.data.resolve_model_data_config(network), is_training=False)
    return network, prepare, lambda network, inputs: network(inputs)


def _open_clip_network(name: str) -> tuple[Any, Any, Any]:
    open_clip = needed_module("open_clip", f"The image model {name!r}", "pip install open_clip_torch torchvision")
    architecture, _, weights = name.removeprefix(_OPEN_CLIP).partition("/")
    if not weights:
        weights = open_clip.list_pretrained_tags_by_model(architecture)[0]
    network, _, prepare = open_clip.create_model_and_transforms(architecture, pretrained=weights)
    return network, prepare, lambda network, inputs: network.encode_image(inputs)
