"""Points changed at random in ways that leave their class alone, a whole batch at a time on its device.

Points come scaled, channels first for images: 0 is the mean of the training points and 1 their standard deviation. All
draws are from torch's global generator, which training lends itself (``fitting.devices.own_randomness``).
"""

from __future__ import annotations

import math

import torch
from torch.nn import functional

_SHIFT = 1 / 8
"""Of an image's side: 4 pixels of 32, as in most work on small images."""
_VIEW_SHIFT = 1 / 16
"""The same of a view that is asked about."""
_TURN, _SHEAR, _ZOOM = math.radians(20), 0.2, 0.2
_CONTRAST, _BRIGHTNESS, _TINT = 0.5, 0.5, 0.3
_CUTOUT, _SMALL_CUTOUT = 1 / 2, 1 / 4
"""Sides of what is cut out, as shares of the image's: the longest under strong augmentation, and the one under
moderate."""
_NOISE, _MISSING = 0.1, 0.2
"""For features: standard deviation of what is added, and the share that is set to the mean."""


def weak(points: torch.Tensor) -> torch.Tensor:
    """Images (b, c, h, w) shifted a little, colour ones also mirrored by the toss of a coin: digits and letters, which
    are grey, would turn into others. Features (b, d) as they are."""
    return _shifted_and_mirrored(points) if points.ndim == 4 else points


def moderate(points: torch.Tensor) -> torch.Tensor:
    """As weak, and with a small square cut out of colour images (DeVries, Taylor 2017): what a network may learn from
    labels alone. Of a digit it might cut what tells it from another."""
    points = weak(points)
    if points.ndim == 4 and _has_colours(points):
        half = torch.full((len(points),), _SMALL_CUTOUT / 2, device=points.device)
        return _with_a_piece_cut_out(points, half, half)
    return points


def strong(points: torch.Tensor) -> torch.Tensor:
    """Images also turned, sheared, zoomed, lit otherwise, tinted, and with a piece cut out; features under noise, some
    of them missing."""
    if points.ndim == 4:
        halves = (_between(0, _CUTOUT / 2, points) for _ in range(2))
        return _with_a_piece_cut_out(_lit_otherwise(_bent(_shifted_and_mirrored(points))), *halves)
    kept = torch.rand(points.shape, device=points.device) >= _MISSING
    return (points + _NOISE * torch.randn(points.shape, device=points.device)) * kept


def views(points: torch.Tensor) -> list[torch.Tensor]:
    """What a network that has learned under augmentation should be asked about to know what it thinks of points: colour
    images as they are and mirrored, in their place and shifted a little towards two corners; anything else as it is."""
    if points.ndim != 4 or not _has_colours(points):
        return [points]
    both = [points, points.flip(3)]
    return both + [_moved(images, direction * _VIEW_SHIFT) for direction in (-1, 1) for images in both]


def _shifted_and_mirrored(images: torch.Tensor) -> torch.Tensor:
    """By choosing rows and columns, which also fills the gap at the edge with the mirror image of what lies there."""
    _, channels, height, width = images.shape
    rows, columns = (_shifted_indices(len(images), side, images.device) for side in (height, width))
    if _has_colours(images):
        mirrored = _coin(images)
        columns = torch.where(mirrored[:, None], width - 1 - columns, columns)
    by_rows = images.gather(2, rows[:, None, :, None].expand(-1, channels, -1, width))
    return by_rows.gather(3, columns[:, None, None, :].expand(-1, channels, height, -1))


def _shifted_indices(n: int, side: int, device: torch.device) -> torch.Tensor:
    """(n, side): which pixel comes to lie where."""
    farthest = round(side * _SHIFT)
    shift = torch.randint(-farthest, farthest + 1, (n, 1), device=device)
    return _reflected(torch.arange(side, device=device) + shift, side)


def _moved(images: torch.Tensor, share: float) -> torch.Tensor:
    """All by the same share of their sides, down and to the right."""
    rows, columns = (
        _reflected(torch.arange(side, device=images.device) - round(share * side), side) for side in images.shape[2:]
    )
    return images[:, :, rows[:, None], columns]


def _reflected(places: torch.Tensor, side: int) -> torch.Tensor:
    """Those beyond the edge, back inside."""
    return (side - 1) - ((side - 1) - places.abs()).abs()


def _bent(images: torch.Tensor) -> torch.Tensor:
    """Turned, sheared and zoomed."""
    turn = _TURN * _between(-1, 1, images)
    shear = _SHEAR * _between(-1, 1, images)
    zoom_x, zoom_y = (1 + _ZOOM * _between(-1, 1, images) for _ in range(2))
    nothing = torch.zeros_like(turn)
    first_row = torch.stack([turn.cos() * zoom_x, (shear - turn.sin()) * zoom_y, nothing], dim=1)
    second_row = torch.stack([turn.sin() * zoom_x, turn.cos() * zoom_y, nothing], dim=1)
    grid = functional.affine_grid(torch.stack([first_row, second_row], dim=1), list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, padding_mode="reflection", align_corners=False)


def _lit_otherwise(images: torch.Tensor) -> torch.Tensor:
    """Other contrast and brightness; for colour images also another saturation and tint."""
    if _has_colours(images):
        grey = images.mean(dim=1, keepdim=True)
        images = grey + _each(_between(0, 2, images)) * (images - grey)
        images = images + _TINT * torch.randn((*images.shape[:2], 1, 1), device=images.device)
    mean = images.mean(dim=(1, 2, 3), keepdim=True)
    contrast = _each(_between(1 - _CONTRAST, 1 + _CONTRAST, images))
    return mean + contrast * (images - mean) + _each(_between(-_BRIGHTNESS, _BRIGHTNESS, images))


def _with_a_piece_cut_out(images: torch.Tensor, half_height: torch.Tensor, half_width: torch.Tensor) -> torch.Tensor:
    """A rectangle of each, set to the mean; halves (b,) of its sides as shares of the image's."""
    _, _, height, width = images.shape
    rows, columns = _stretch(half_height * height, height), _stretch(half_width * width, width)
    return images.masked_fill((rows[:, :, None] & columns[:, None, :])[:, None], 0.0)


def _stretch(half: torch.Tensor, side: int) -> torch.Tensor:
    """(b, side): stretches of these half lengths (b,) around random places."""
    centre = side * torch.rand_like(half)[:, None]
    places = torch.arange(side, device=half.device) + 0.5
    return (places - centre).abs() < half[:, None]


def _has_colours(images: torch.Tensor) -> bool:
    return images.shape[1] == 3


def _coin(images: torch.Tensor) -> torch.Tensor:
    return torch.rand(len(images), device=images.device) < 0.5


def _between(low: float, high: float, images: torch.Tensor) -> torch.Tensor:
    """One number (b,) for each image."""
    return low + (high - low) * torch.rand(len(images), device=images.device)


def _each(values: torch.Tensor) -> torch.Tensor:
    """(b,) so that it goes with images (b, c, h, w)."""
    return values[:, None, None, None]
