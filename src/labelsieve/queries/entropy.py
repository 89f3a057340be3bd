"""Highest entropy first."""

from __future__ import annotations

from labelsieve.queries.base import LowestFirst
from labelsieve.types import Array, Outputs


class Entropy(LowestFirst):
    """The points whose softmax is spread most evenly over the classes."""

    def summary(self, outputs: Outputs) -> Array:
        return -outputs.entropies
