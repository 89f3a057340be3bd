"""The paper's networks, and a better one for images. Each factory builds a module for points of a given shape; modules
return (logits, features)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import torch
from torch import nn

from labelsieve.errors import ConfigurationError

_LARGEST_MAP = 48
"""Side of the maps that a residual network computes with: images larger than this are thinned out by its first step."""

NetworkFactory = Callable[[tuple[int, ...], int], nn.Module]
"""(shape of one point, number of classes) -> module whose forward returns logits and the layer before them.

What a factory may say of the modules it builds. ``recordable``: each call does the same operations on tensors that
stay in place and never waits for the GPU, which can then record a step and replay it. ``stackable``: there is no random
or running state either (no dropout, no batch norm), and many can be trained at once. ``takes_turns``: each with
weights of its own all the same, since large convolutions of many networks are slower as one, unless there are kernels
for them (``stacked_cnn.py``); a GPU does those of several side by side. ``channels_last``: they take images whose
channels lie side by side in memory, which units for bf16 want, and no module of theirs asks how memory is laid out."""


class BodyAndHead(nn.Module):
    """A body that makes features and a linear head that makes logits of them."""

    def __init__(self, body: nn.Module, width: int, n_classes: int) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(width, n_classes)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.body(x)
        return self.head(features), features


@dataclass(frozen=True)
class LeNet5:
    """LeNet-5: tanh, convolutions of 6, 16 and 120 maps, 84 units. Smaller images are padded to 32 × 32."""

    recordable: ClassVar[bool] = True
    stackable: ClassVar[bool] = True
    channels_last: ClassVar[bool] = True

    def __call__(self, point_shape: tuple[int, ...], n_classes: int) -> nn.Module:
        height, width, channels = _image_shape(point_shape, "lenet")
        missing_h, missing_w = max(0, 32 - height), max(0, 32 - width)
        padding = (missing_w // 2, missing_w - missing_w // 2, missing_h // 2, missing_h - missing_h // 2)
        map_h, map_w = (((side - 4) // 2 - 4) // 2 - 4 for side in (height + missing_h, width + missing_w))
        body = nn.Sequential(
            nn.ZeroPad2d(padding),
            nn.Conv2d(channels, 6, 5), nn.Tanh(), nn.AvgPool2d(2),
            nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
            nn.Conv2d(16, 120, 5), nn.Tanh(),
            nn.AvgPool2d((map_h, map_w)),  # 1 × 1 for inputs of 32 × 32
            nn.Flatten(),
            nn.Linear(120, 84), nn.Tanh(),
        )  # fmt: skip
        return BodyAndHead(body, 84, n_classes)


@dataclass(frozen=True)
class SimpleCNN:
    """Six 3 × 3 convolutions in three pairs, then 1024 and 512 units; 5.8 M parameters on CIFAR-10."""

    recordable: ClassVar[bool] = True
    stackable: ClassVar[bool] = True
    takes_turns: ClassVar[bool] = True
    channels_last: ClassVar[bool] = True

    def __call__(self, point_shape: tuple[int, ...], n_classes: int) -> nn.Module:
        height, width, channels = _image_shape(point_shape, "cnn")
        _refuse_small_images(height, width, "cnn")
        layers: list[nn.Module] = []
        for before, first, second in ((channels, 32, 64), (64, 128, 128), (128, 256, 256)):
            layers += [nn.Conv2d(before, first, 3, padding=1), nn.ReLU()]
            layers += [nn.Conv2d(first, second, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        map_h, map_w = height // 8, width // 8
        pool = (max(1, map_h // 4), max(1, map_w // 4))
        last_maps = 256 * (map_h // pool[0]) * (map_w // pool[1])
        body = nn.Sequential(
            *layers,
            nn.AvgPool2d(pool),  # 1 × 1 for inputs of 32 × 32; larger ones come down to about 4 × 4 maps
            nn.Flatten(),
            nn.Linear(last_maps, 1024), nn.ReLU(),
            nn.Linear(1024, 512), nn.ReLU(),
        )  # fmt: skip
        return BodyAndHead(body, 512, n_classes)


@dataclass(frozen=True)
class ResNet:
    """Eight 3 × 3 convolutions with batch norm, four of them in two residual blocks (ResNet-9).

    ``width`` is the number of maps of the first; None for 64 on colour images (6.6 M parameters, 0.8 GFLOP for a
    forward pass over 32 × 32 pixels) and 8 on grey ones, which have less to show: a CPU can train on these. The first
    convolution of images larger than 48 × 48 takes strides, so that they cost little more than small ones.
    """

    recordable: ClassVar[bool] = True
    channels_last: ClassVar[bool] = True

    width: int | None = None

    def __call__(self, point_shape: tuple[int, ...], n_classes: int) -> nn.Module:
        height, width, channels = _image_shape(point_shape, "resnet")
        _refuse_small_images(height, width, "resnet")
        maps = self.width or (64 if channels > 1 else 8)
        stride = math.ceil(min(height, width) / _LARGEST_MAP)
        body = nn.Sequential(
            _convolution(channels, maps, stride),
            _convolution(maps, 2 * maps), nn.MaxPool2d(2), _Residual(2 * maps),
            _convolution(2 * maps, 4 * maps), nn.MaxPool2d(2),
            _convolution(4 * maps, 8 * maps), nn.MaxPool2d(2), _Residual(8 * maps),
            _MeanOverPixels(),
        )  # fmt: skip
        return BodyAndHead(body, 8 * maps, n_classes)


def _convolution(before: int, maps: int, stride: int = 1) -> nn.Sequential:
    # Batch norm has a bias of its own.
    return nn.Sequential(nn.Conv2d(before, maps, 3, stride, padding=1, bias=False), nn.BatchNorm2d(maps), nn.ReLU())


class _Residual(nn.Module):
    """Two convolutions, added to what went into them."""

    def __init__(self, maps: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(_convolution(maps, maps), _convolution(maps, maps))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = x + self.inner(x)
        return added


class _MeanOverPixels(nn.Module):
    """As adaptive pooling, whose gradients a GPU would add up in another order every time."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=(2, 3))


@dataclass(frozen=True)
class MLP:
    """Fully connected layers with tanh: 1000-500-30 for 20 Newsgroups, 1000-500-300 for Tiny-ImageNet."""

    recordable: ClassVar[bool] = True
    stackable: ClassVar[bool] = True

    hidden: tuple[int, ...] = (1000, 500, 30)

    def __call__(self, point_shape: tuple[int, ...], n_classes: int) -> nn.Module:
        layers: list[nn.Module] = [nn.Flatten()]
        width = prod(point_shape)
        for units in self.hidden:
            layers += [nn.Linear(width, units), nn.Tanh()]
            width = units
        return BodyAndHead(nn.Sequential(*layers), width, n_classes)


def _refuse_small_images(height: int, width: int, name: str) -> None:
    if min(height, width) < 8:
        raise ConfigurationError(
            f"classifier {name!r} needs images of at least 8 × 8, since it halves them three times; "
            f"got {height} × {width}. Use 'lenet', or give the pixels as features."
        )


def _image_shape(point_shape: tuple[int, ...], name: str) -> tuple[int, int, int]:
    if len(point_shape) == 2:
        return point_shape[0], point_shape[1], 1
    if len(point_shape) == 3:
        return point_shape[0], point_shape[1], point_shape[2]
    raise ConfigurationError(
        f"classifier {name!r} needs images, (n, h, w) or (n, h, w, c); got features of shape (n, {point_shape[0]}). "
        "Use 'mlp' or 'logistic', or reshape the pool."
    )
