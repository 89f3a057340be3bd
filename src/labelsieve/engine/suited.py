"""The classifier that goes with a pool, and how to train it, if nobody chooses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelsieve.classifiers.base import flattened
from labelsieve.classifiers.known_neighbours import MOST_REMEMBERED
from labelsieve.data.pool import Pool
from labelsieve.errors import ConfigurationError

EMBEDDINGS = "kernel"
"""The classifier that suits them."""
_SMALLEST_IMAGE = 16
_LOOKED_AT = 100


def classifier_suited_to(pool: Pool, device: str) -> str:
    """Networks for images large enough to have something to convolve, regression for the rest: one that bends for what
    looks like embeddings; that or a linear one, whichever does better, for all else."""
    shape = pool.point_shape
    if len(shape) == 3 and shape[0] in (1, 3) and min(shape[1:]) >= _SMALLEST_IMAGE:
        raise ConfigurationError(
            f"Images must have their channels last, (n, h, w, c); shape (n, {', '.join(map(str, shape))}) looks "
            "like channels first. Use np.moveaxis(pool, 1, 3)."
        )
    if len(shape) > 1 and min(shape[:2]) >= _SMALLEST_IMAGE:
        is_grey = len(shape) == 2 or shape[2] == 1
        return "resnet" if is_grey or _has_gpu(device) else "cnn"
    return EMBEDDINGS if _has_unit_length(pool) else "features"


def training_suited_to(classifier: Any, n_points: int) -> str:
    """Embeddings lie in clouds that say something about each other, and looking for neighbours takes seconds or
    minutes, unless there are so many points that it has to be done anew in every round."""
    is_embedding = isinstance(classifier, str) and classifier in (EMBEDDINGS, "embedding")
    return "semi-supervised" if is_embedding and n_points <= MOST_REMEMBERED else "vanilla"


def _has_gpu(device: str) -> bool:
    """A residual network for colour images takes hours without one."""
    from labelsieve.fitting.devices import resolve_device

    return resolve_device(device).type == "cuda"


def _has_unit_length(pool: Pool) -> bool:
    """As embeddings mostly have, and hardly anything else."""
    some = flattened(pool.take(np.arange(min(len(pool), _LOOKED_AT)))).astype(np.float64)
    return some.shape[1] > 1 and bool(np.allclose(np.linalg.norm(some, axis=1), 1, atol=1e-2))
