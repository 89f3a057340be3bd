"""The four datasets, from a folder named by LABELSIEVE_DATA, and how each run divides them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from experiments.paper.configuration import Protocol
from labelsieve.errors import ConfigurationError, DataError

Array = npt.NDArray[np.generic]
_SIDE = 32
"""Of a CIFAR-10 image; they come as mosaics."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points and their labels 0 to k - 1."""

    x: npt.NDArray[np.generic]
    y: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> Points:
        return Points(self.x[rows], self.y[rows])


@dataclass(frozen=True, eq=False)
class Division:
    """What one run works with."""

    pool: Points
    validation: Points


@dataclass(frozen=True, eq=False)
class SearchDivision:
    """What the search works with; none of it is in the pool of any run."""

    pool: Points
    validation: Points
    hyp: Points


def data_folder() -> Path:
    """The folder with one subfolder per dataset."""
    named = os.environ.get("LABELSIEVE_DATA")
    folder = Path(named) if named else Path("..", "shared", "data")
    if not folder.is_dir():
        raise ConfigurationError(
            f"LABELSIEVE_DATA must name a folder with the datasets; {'it names ' + named if named else 'it is not set'}"
            f", and {folder} is no folder. `python -m experiments.paper fetch FOLDER` makes one."
        )
    return folder


@cache
def load(dataset: str, folder: Path) -> Points:
    """All points of a dataset, its official train and test parts one after the other."""
    try:
        return _READERS[dataset](folder / dataset)
    except FileNotFoundError as error:
        raise DataError(
            f"{dataset} must lie in {folder / dataset}; missing is {error.filename}. "
            f"Get it with `python -m experiments.paper fetch {folder}`, or set LABELSIEVE_DATA to where it is."
        ) from None


def division(points: Points, protocol: Protocol, seed: int) -> Division:
    """Pool and validation points of the run with this seed, drawn anew for every seed."""
    others = _order(points)[protocol.search.points :]
    needed = protocol.pool + protocol.validation
    if needed > len(others):
        raise ConfigurationError(
            f"{protocol.title} has {len(points):,} points, {len(others):,} without those of the search; a pool of "
            f"{protocol.pool:,} and {protocol.validation:,} validation points need {needed:,}. Lower one of them."
        )
    drawn = np.random.default_rng([seed, 1]).permutation(others)
    return Division(points[drawn[: protocol.pool]], points[drawn[protocol.pool : needed]])


def search_division(points: Points, protocol: Protocol) -> SearchDivision:
    """The points that the search has for itself, the same in every search."""
    sizes = protocol.search
    own = _order(points)[: sizes.points]
    pool, validation, hyp = np.split(own, [sizes.pool, sizes.pool + sizes.validation])
    return SearchDivision(points[pool], points[validation], points[hyp])


def _order(points: Points) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).permutation(len(points))


def _mnist(folder: Path) -> Points:
    with np.load(folder / "mnist.npz") as stored:
        return _joined([(stored[f"x_{part}"], stored[f"y_{part}"]) for part in ("train", "test")])


def _cifar10(folder: Path) -> Points:
    from PIL import Image

    def tiles(name: str) -> Array:
        mosaic = np.asarray(Image.open(folder / f"{name}.webp").convert("RGB"))
        rows, columns = mosaic.shape[0] // _SIDE, mosaic.shape[1] // _SIDE
        tiled = mosaic.reshape(rows, _SIDE, columns, _SIDE, 3).transpose(0, 2, 1, 3, 4)
        return tiled.reshape(rows * columns, _SIDE, _SIDE, 3)

    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    with np.load(folder / "labels.npz") as stored:
        labels = np.concatenate([stored["y_train"], stored["y_test"]])
    return _joined([(np.concatenate([tiles(name) for name in names]), labels)])


def _newsgroups20(folder: Path) -> Points:
    with np.load(folder / "minilm.npz") as stored:
        parts = [(stored[f"x_{part}"].astype(np.float32), stored[f"y_{part}"]) for part in ("train", "test")]
    return _joined(parts)


def _tiny_imagenet(folder: Path) -> Points:
    with np.load(folder / "features.npz") as stored:
        scale = stored["scale"].astype(np.float32)
        return _joined([(stored[f"x_{part}"] * scale, stored[f"y_{part}"]) for part in ("train", "test")])


def _joined(parts: list[tuple[Array, Array]]) -> Points:
    x, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Points(x, y.astype(np.int64))


_READERS: dict[str, Callable[[Path], Points]] = {
    "mnist": _mnist,
    "cifar10": _cifar10,
    "newsgroups20": _newsgroups20,
    "tiny_imagenet": _tiny_imagenet,
}
