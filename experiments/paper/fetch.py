"""Gets the datasets from their official sources and makes the files that ``datasets.py`` reads.

Downloads are kept in ``downloads/`` and can be removed afterwards. All checksums are those that torchvision,
scikit-learn and other users of these files publish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.paper import converting, embedding
from experiments.paper.configuration import DATASETS
from experiments.paper.downloading import Source, download

_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
SOURCES: dict[str, tuple[Source, ...]] = {
    "mnist": (
        Source(_MNIST + "train-images-idx3-ubyte.gz", "md5", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        Source(_MNIST + "train-labels-idx1-ubyte.gz", "md5", "d53e105ee54ea40749a09fcbcd1e9432"),
        Source(_MNIST + "t10k-images-idx3-ubyte.gz", "md5", "9fb629c4189551a2d022fa330f9573f3"),
        Source(_MNIST + "t10k-labels-idx1-ubyte.gz", "md5", "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
    "cifar10": (
        Source("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz", "md5", "c58f30108f718f92721af3b95e74349a"),
    ),
    # The copy that scikit-learn takes: qwone.com has the same archive, without a checksum.
    "newsgroups20": (
        Source(
            "https://ndownloader.figshare.com/files/5975967",
            "sha256",
            "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
        ),
    ),
    "tiny_imagenet": (
        Source("http://cs231n.stanford.edu/tiny-imagenet-200.zip", "md5", "90528d7ca1a48142e341f4ef8d21d0de"),
    ),
}
FILES: dict[str, tuple[str, ...]] = {
    "mnist": ("mnist.npz",),
    "cifar10": (*(f"{name}.webp" for name in converting.CIFAR10_BATCHES), "labels.npz"),
    "newsgroups20": ("train.jsonl.gz", "test.jsonl.gz", "minilm.npz"),
    "tiny_imagenet": ("features.npz",),
}
_NAMES = {"5975967": "20news-bydate.tar.gz"}
"""For addresses that do not end in the name of a file."""


def fetch(folder: Path, datasets: Sequence[str] = DATASETS, device: str = "auto") -> None:
    """One subfolder per dataset; what is there already is left alone. ``device`` is for the embeddings."""
    for dataset in datasets:
        files = [folder / dataset / name for name in FILES[dataset]]
        if all(path.exists() for path in files):
            print(f"{dataset} is there", flush=True)
            continue
        embedding.require_packages(dataset)  # before anything is downloaded
        archives = [download(source, folder / "downloads", _NAMES.get(source.name)) for source in SOURCES[dataset]]
        (folder / dataset).mkdir(parents=True, exist_ok=True)
        _CONVERT[dataset](archives, folder / dataset, device)
        print(f"{dataset} is ready: {', '.join(path.name for path in files)}", flush=True)


def _newsgroups20(archives: Sequence[Path], folder: Path, device: str) -> None:
    converting.newsgroups20(archives, folder)
    embedding.minilm(folder, device)


_CONVERT: dict[str, Callable[[Sequence[Path], Path, str], None]] = {
    "mnist": lambda archives, folder, _: converting.mnist(archives, folder),
    "cifar10": lambda archives, folder, _: converting.cifar10(archives, folder),
    "newsgroups20": _newsgroups20,
    "tiny_imagenet": embedding.efficientnet_lite0,
}
