"""Smallest margins first."""

from __future__ import annotations

from labelsieve.queries.base import LowestFirst
from labelsieve.types import Array, Outputs


class Margin(LowestFirst):
    """The points whose two best classes are closest in probability."""

    def summary(self, outputs: Outputs) -> Array:
        return outputs.margins
