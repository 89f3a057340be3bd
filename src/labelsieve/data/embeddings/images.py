"""Images: what a pretrained network sees in them, or the pixels of small ones as they are."""

from __future__ import annotations

import numpy as np

from labelsieve.data.embeddings import efficientnet
from labelsieve.data.embeddings.base import FeatureSettings, ItemModel
from labelsieve.data.embeddings.image_files import ImageFiles, pixels_of, readable_image
from labelsieve.errors import DataError
from labelsieve.types import Array

PIXELS = "pixels"
AUTO_OF_0_3 = "auto of 0.3"
_AUTO_WITHOUT_NETWORK = "auto without a network"
_LARGEST_SMALL = 64
_SHOWN = 4


def meaning_of_auto() -> str:
    """What "auto" means now, when the network is installed or not, for those who want it to stay that."""
    return "auto" if efficientnet.is_installed() else _AUTO_WITHOUT_NETWORK


def chosen_model(settings: FeatureSettings, files: ImageFiles) -> str:
    """ "auto" made definite: small images of one size are their pixels, unless they are in colour and there is a
    network to look at them; all others need it."""
    meant = meaning_of_auto() if settings.image_model == "auto" else settings.image_model
    if meant not in ("auto", _AUTO_WITHOUT_NETWORK, AUTO_OF_0_3):
        return meant
    are_small = len(files.sizes) == 1 and max(files.sizes[0]) <= _LARGEST_SMALL
    worth_a_look = files.in_colour and min(files.sizes[0]) >= efficientnet.FEWEST_PIXELS
    if are_small and not (worth_a_look and meant == "auto"):
        return PIXELS
    return "efficientnet-lite0" if meant == AUTO_OF_0_3 else efficientnet.BEST


class Pixels:
    """The pixels themselves, for the classifiers that are convolutional networks."""

    batch_size = 64
    dtype = np.dtype(np.uint8)

    def __init__(self, files: ImageFiles) -> None:
        if len(files.sizes) != 1:
            shown = ", ".join(f"{width} × {height}" for width, height in files.sizes[:_SHOWN])
            raise DataError(
                f"With image_model 'pixels' all images must have one size; there are {len(files.sizes)}: {shown}"
                f"{', …' if len(files.sizes) > _SHOWN else ''}. Resize them, or use image_model 'auto'."
            )
        width, height = files.sizes[0]
        self._in_colour = files.in_colour
        self.shape: tuple[int, ...] = (height, width, 3) if files.in_colour else (height, width)
        self.identity = "pixels in colour" if files.in_colour else "pixels in grey"

    def compute(self, items: list[bytes]) -> Array:
        """One image per file."""
        return np.stack([decoded(item, in_colour=self._in_colour) for item in items])


def decoded(content: bytes, *, in_colour: bool) -> Array:
    """The pixels of a file whose header was found good."""
    with readable_image(content) as image:
        return pixels_of(image, in_colour=in_colour)


def words_for(model: ItemModel, name: str) -> tuple[list[str], str]:
    """What the columns are, briefly and in a sentence."""
    shape = " × ".join(map(str, model.shape))
    if name == PIXELS:
        return [f"pixels {shape}"], f"Pixels as they are, {shape}."
    return [f"{name} {shape}"], f"Features of the pretrained network {name}, {shape} per image, of length 1."
