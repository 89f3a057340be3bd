"""What a search has found out so far, on disk.

One small file per record, written beside its place and then moved there: a killed process leaves a whole record or
none, several searches may share a folder, and a record can be looked at or deleted by hand. A single growing file would
need locks for the one and repair for the other.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

from labelsieve.errors import ConfigurationError
from labelsieve.types import Array
from labelsieve.writing import utf8, write_atomically


class Cache:
    """Records by key, in a folder; without a folder, nothing is kept."""

    def __init__(self, folder: str | PathLike[str] | None) -> None:
        self._folder = None if folder is None else Path(folder)
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"cache must name a folder that can be written to; for {folder} the system says: "
                f"{error.strerror or error}. Choose another place."
            ) from None

    @property
    def keeps(self) -> bool:
        """Whether anything is kept."""
        return self._folder is not None

    def get(self, key: str) -> dict[str, Any] | None:
        """The record, or None; one that cannot be read (a disk was full, a file edited) counts as missing."""
        if self._folder is None:
            return None
        try:
            record = json.loads((self._folder / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def put(self, records: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep records by key; those that come together are in place together, but for an instant."""
        if self._folder is not None:
            # Parameters that are objects are there for people to read; the key tells them apart.
            texts = {
                key: json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False, default=repr)
                for key, record in records.items()
            }
            write_atomically({self._folder / f"{key}.json": utf8(text) for key, text in texts.items()})


def key_of(configuration: Mapping[str, Any]) -> str:
    """Hash of everything a result depends on."""
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode()).hexdigest()[:32]


def fingerprint(*arrays: Array) -> str:
    """Hash of every value, and of shape and type."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()[:32]


def described(method: BaseEstimator) -> dict[str, str]:
    """Class and all parameters of a method, in words that are the same in every process."""
    parts = {"": _class_of(method)}
    for name, value in method.get_params(deep=True).items():
        parts[name] = _class_of(value) if isinstance(value, BaseEstimator) else _in_words(name, value)
    return parts


def installed_version() -> str:
    """Of labelsieve: another version may give other numbers."""
    try:
        return version("labelsieve")
    except PackageNotFoundError:  # run from a folder of sources
        return "unknown"


def _class_of(value: Any) -> str:
    return f"{type(value).__module__}:{type(value).__qualname__}"


def _in_words(name: str, value: Any) -> str:
    words = repr(value)
    if " at 0x" not in words:
        return words
    try:  # by name, which an address is not
        return str(joblib.hash(value))
    except (pickle.PicklingError, AttributeError, TypeError):
        raise ConfigurationError(
            f"With cache= every parameter must be the same thing in another process; {name}={words} has no name there. "
            "Define it at the top of a module, as a function or a dataclass, or search without cache=."
        ) from None
