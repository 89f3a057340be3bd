"""Photographs are looked at by a network that has seen a million others, before anybody is asked about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labelsieve import registry
from labelsieve.data.embeddings import efficientnet
from labelsieve.data.pool import Pool, as_pool
from labelsieve.data.sources.seen_images import SeenImages
from labelsieve.engine.progress import LiveBars, bars_if_terminal
from labelsieve.engine.suited import EMBEDDINGS
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array

_COLOURS = 3


def is_photographs(pool: Pool) -> bool:
    """Whether these may be photographs: images in colour, one byte per pixel and channel."""
    shape = pool.point_shape
    return (
        len(shape) == 3
        and shape[2] == _COLOURS
        and min(shape[:2]) >= efficientnet.FEWEST_PIXELS
        and pool.source.dtype == np.uint8
        and not pool.as_it_is
    )


def image_features(images: Any, *, device: str = "auto", progress: bool = True) -> Array:
    """What a pretrained network sees in images in colour, (n, d), every row of length 1.

    ``ls.autolabel`` does the same with such images. Do it beforehand, and keep the result, where a run is to be
    continued in another process, or where there are many.

    images: an array (n, h, w, 3) of bytes, the path of such a .npy file or of a folder of images, or an ``ls.Pool``.
    """
    pool = as_pool(images)
    if not is_photographs(pool):
        fewest = efficientnet.FEWEST_PIXELS
        raise ConfigurationError(
            f"images must be in colour, (n, h, w, 3), of at least {fewest} × {fewest} pixels, with "
            f"values from 0 to 255 of type uint8; got {pool.source.dtype} of shape {pool.source.shape}. Bring other "
            "numbers to that range and round them; repeat grey images three times."
        )
    seen = pool.seen(device)
    with (watched := bars_if_terminal(progress, LiveBars)):
        look_at(seen, watched.looking)
    return seen.take(np.arange(len(seen)))


def as_the_classifier_sees_them(
    pool: Pool, given: Pool | None, classifier: Any, needs_network: bool, device: str
) -> tuple[Pool, Pool | None, Any]:
    """Photographs through the network, if it is installed and nobody has said what shall learn from them; all else as
    it is. ``needs_network``: only a network of the run's own will do."""
    by_choice = needs_network or not (isinstance(classifier, str) and classifier == registry.AUTO)
    if by_choice or not is_photographs(pool) or not efficientnet.is_installed():
        return pool, given, classifier
    if given is not None and given.source.dtype != pool.source.dtype:
        raise DataError(
            f"validation points must be of the type of pool points, {pool.source.dtype}; got {given.source.dtype}. "
            "Convert them: x.astype(np.uint8), if they hold values from 0 to 255."
        )
    return pool.seen(device), None if given is None else given.seen(device), EMBEDDINGS


def is_seen(pool: Pool) -> bool:
    """Whether a network has to look before its points can be read."""
    return isinstance(pool.source, SeenImages)


def look_at(pool: Pool, progress: Callable[[int, int], None]) -> None:
    """Let the network look at all images of such a pool, if it has not yet."""
    assert isinstance(pool.source, SeenImages)
    pool.source.look(progress)
