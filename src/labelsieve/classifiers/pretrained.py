"""A network that has seen a million photographs before it sees the first of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

from labelsieve.classifiers.networks import BodyAndHead, image_shape
from labelsieve.data.embeddings import efficientnet

_SPREAD = 0.5
"""Standard deviation of what the network was trained on, where 0 is nearly the mean. Points come with 1."""
_STATISTICS_FOLLOW = 0.1
"""Share of a batch's statistics in the running ones. The network comes with 0.01, for trainings of many thousand steps."""


@dataclass(frozen=True)
class Pretrained:
    """EfficientNet-Lite0 (Tan, Le 2019) with ImageNet's weights and a new last layer; all of it learns on.

    Images are brought to ``side`` × ``side``, a multiple of 32. Those of 32 × 32 profit from being enlarged: the
    network has learned what photographs of some hundred pixels look like.
    """

    recordable: ClassVar[bool] = True

    side: int = 128

    def __call__(self, point_shape: tuple[int, ...], n_classes: int) -> nn.Module:
        image_shape(point_shape, "pretrained")
        return BodyAndHead(_Body(self.side), efficientnet.WIDTH, n_classes)


class _Body(nn.Module):
    """Images of any size, grey or in colour, to features."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self._side = side
        self.network = efficientnet.load("The classifier 'pretrained'")
        self.network._fc = nn.Identity()  # the classes of ImageNet
        # Without leaving blocks out at random, which is for trainings of hundreds of epochs.
        self.network._global_params = self.network._global_params._replace(drop_connect_rate=0.0)
        for layer in self.network.modules():
            if isinstance(layer, nn.BatchNorm2d):
                layer.momentum = _STATISTICS_FOLLOW

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = functional.interpolate(_SPREAD * x, size=(self._side, self._side), mode="bilinear", antialias=True)
        maps: torch.Tensor = self.network.extract_features(seen.expand(-1, 3, -1, -1))
        return maps.mean(dim=(2, 3))
