"""From the archives of the official sources to the files that ``datasets.py`` reads."""

from __future__ import annotations

import gzip
import io
import json
import math
import pickle
import struct
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from labelsieve.errors import DataError

Array = npt.NDArray[Any]
CIFAR10_BATCHES = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")


@contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name only once it is written to the end."""
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("wb") as file:
        yield file
    unfinished.replace(path)


def mnist(archives: Sequence[Path], folder: Path) -> None:
    """``mnist.npz`` from the four idx files: images and labels for training, then for testing."""
    arrays = dict(zip(("x_train", "y_train", "x_test", "y_test"), map(_idx, archives), strict=True))
    with whole(folder / "mnist.npz") as file:
        np.savez_compressed(file, **arrays)


def cifar10(archives: Sequence[Path], folder: Path) -> None:
    """A lossless mosaic per batch and ``labels.npz`` from the tarball of pickled batches."""
    from PIL import Image

    labels = {}
    with tarfile.open(archives[0]) as tar:

        def unpickled(name: str) -> dict[bytes, Any]:
            # Pickles can run code; the checksum of the archive says that these are the well-known ones.
            member = tar.extractfile(f"cifar-10-batches-py/{name}")
            assert member is not None
            loaded: dict[bytes, Any] = pickle.load(member, encoding="bytes")
            return loaded

        names = [name.decode() for name in unpickled("batches.meta")[b"label_names"]]
        for name in CIFAR10_BATCHES:
            batch = unpickled(name)
            labels[name] = np.array(batch[b"labels"], dtype=np.uint8)
            with whole(folder / f"{name}.webp") as file:
                mosaic = Image.fromarray(_mosaic(batch[b"data"]))
                mosaic.save(file, "webp", lossless=True, quality=100)
    with whole(folder / "labels.npz") as file:
        y_train = np.concatenate([labels[name] for name in CIFAR10_BATCHES[:-1]])
        np.savez_compressed(file, y_train=y_train, y_test=labels[CIFAR10_BATCHES[-1]], names=np.array(names))


def newsgroups20(archives: Sequence[Path], folder: Path) -> None:
    """``train.jsonl.gz`` and ``test.jsonl.gz``: one post a line, ordered by group and number."""
    posts: dict[str, dict[tuple[str, int], str]] = {"train": {}, "test": {}}
    with tarfile.open(archives[0]) as tar:
        for member in tar:
            if member.isfile():
                part, group, number = PurePosixPath(member.name).parts[-3:]
                file = tar.extractfile(member)
                assert file is not None
                posts[part.rpartition("-")[2]][group, int(number)] = file.read().decode("latin-1")
    groups = sorted({group for group, _ in posts["train"]})
    for part, of_part in posts.items():
        lines = io.StringIO()
        for (group, place), text in sorted(of_part.items()):
            row = {"id": f"{group}/{place}", "label": groups.index(group), "label_name": group, "text": text}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
        with whole(folder / f"{part}.jsonl.gz") as file:
            file.write(gzip.compress(lines.getvalue().encode(), mtime=0))


def _idx(path: Path) -> Array:
    """The array in a gzipped idx file of bytes."""
    content = gzip.decompress(path.read_bytes())
    zeros, kind, dimensions = struct.unpack(">HBB", content[:4])
    if zeros != 0 or kind != 8:
        raise DataError(f"{path.name} must be an idx file of bytes; its first bytes are {content[:4].hex()}.")
    shape = struct.unpack(f">{dimensions}I", content[4 : 4 + 4 * dimensions])
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def _mosaic(rows: Array) -> Array:
    """Images given as rows of channels, put side by side in a square, row by row."""
    side = math.isqrt(len(rows))
    if side * side != len(rows):
        raise DataError(f"A mosaic needs a square number of images; got {len(rows)}.")
    return rows.reshape(side, side, 3, 32, 32).transpose(0, 3, 1, 4, 2).reshape(side * 32, side * 32, 3)
