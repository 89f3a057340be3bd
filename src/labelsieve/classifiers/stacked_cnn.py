"""Many of the 5.8 M-parameter networks as one, with convolutions made for that."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

from labelsieve.fitting.devices import triton_compiles

_FEWEST_CHANNELS = 16
"""What the products of matrices on a GPU take at least; images are padded to it, or to the next power of 2."""


def convolutions_stack(device: torch.device, precision: str, point_shape: Sequence[int]) -> bool:
    """Whether the convolutions of many networks on images (h, w[, c]) can be one: on a GPU, in bf16, where Triton can
    compile and the images can be halved three times."""
    halves = len(point_shape) > 1 and point_shape[0] % 8 == 0 and point_shape[1] % 8 == 0
    return precision == "bf16" and halves and triton_compiles(device)


class StackedCNN:
    """Members of ``SimpleCNN``, called on images (m, b, c, h, w) as one; ``StackedModules`` is for all other networks.

    Weights lie as products of matrices take them: a convolution's as (m, 9 · channels, maps), a layer's as (m, inputs,
    outputs). The first convolution has channels that are always 0, and so are the gradients of their weights.
    """

    def __init__(self, modules: Sequence[nn.Module], device: torch.device, dtype: torch.dtype = torch.bfloat16) -> None:
        layers = [_layers(module) for module in modules]
        self._n_convolutions = sum(isinstance(layer, nn.Conv2d) for layer in layers[0])
        self._pool = next(layer for layer in modules[0].modules() if isinstance(layer, nn.AvgPool2d))
        self._dtype = dtype
        self.weights = [
            torch.stack(same).to(device).requires_grad_()
            for of_all in zip(*layers, strict=True)
            for same in zip(*([_as_matrix(weight) for weight in layer.parameters()] for layer in of_all), strict=True)
        ]

    def __call__(self, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        from labelsieve.fitting.stacked_convolutions import convolve, convolve_and_halve

        pairs = list(zip(self.weights[::2], self.weights[1::2], strict=True))
        x = _padded(points.movedim(2, 4), 0).to(self._dtype).contiguous()
        for number, (weight, bias) in enumerate(pairs[: self._n_convolutions]):
            x = (convolve_and_halve if number % 2 else convolve)(x, weight, bias)
        maps = x.movedim(4, 2).flatten(0, 1)
        if self._pool.kernel_size != (1, 1):
            maps = self._pool(maps)
        x = maps.reshape(*points.shape[:2], -1)
        *hidden, head = pairs[self._n_convolutions :]
        for weight, bias in hidden:
            x = functional.relu(_linear(x, weight, bias))
        return _linear(x, *head), x

    @torch.no_grad()
    def write_back(self, modules: Sequence[nn.Module]) -> None:
        """Put each member's weights into its own module."""
        for number, module in enumerate(modules):
            own = [weight for layer in _layers(module) for weight in layer.parameters()]
            for weight, of_all in zip(own, self.weights, strict=True):
                weight.copy_(_from_matrix(of_all[number], weight.shape))


def _layers(module: nn.Module) -> list[nn.Conv2d | nn.Linear]:
    return [layer for layer in module.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]


def _padded(values: torch.Tensor, dims_after: int) -> torch.Tensor:
    """Channels up to a number that is possible; so many dimensions come after theirs."""
    channels = values.shape[values.ndim - 1 - dims_after]
    possible = max(_FEWEST_CHANNELS, 1 << (channels - 1).bit_length())
    return functional.pad(values, (*[0, 0] * dims_after, 0, possible - channels))


def _as_matrix(weight: torch.Tensor) -> torch.Tensor:
    """(maps, channels, 3, 3) as (9 · channels, maps); (outputs, inputs) as (inputs, outputs); biases as they are."""
    if weight.ndim < 4:
        return weight.detach().t().contiguous()
    return _padded(weight.detach().permute(2, 3, 1, 0), 1).flatten(0, 2).contiguous()


def _from_matrix(matrix: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """The weight of this shape that became the matrix."""
    if len(shape) < 4:
        return matrix.t()
    return matrix.view(3, 3, -1, shape[0])[:, :, : shape[1]].permute(3, 2, 0, 1)


def _linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.baddbmm(bias.to(x.dtype)[:, None], x, weight.to(x.dtype))
