"""Datasets as they are downloaded, from small archives that a server on this computer hands out."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import struct
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from experiments.paper import embedding, fetch
from experiments.paper.datasets import load
from experiments.paper.downloading import Source, download
from labelsieve.errors import ConfigurationError, DataError

RNG = np.random.default_rng(0)


class Server(ThreadingHTTPServer):
    """Hands out ``files``; ``asked`` has the ranges asked for. ``ends_after``: bytes until the line breaks, once."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str | None] = []
        self.ends_after: int | None = None

    def source(self, name: str, content: bytes) -> Source:
        self.files[f"/{name}"] = content
        return Source(f"http://127.0.0.1:{self.server_port}/{name}", "sha256", hashlib.sha256(content).hexdigest())


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        content, wanted = self.server.files.get(self.path), self.headers.get("Range")
        self.server.asked.append(wanted)
        if content is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end, self.server.ends_after = self.server.ends_after, None
        self.wfile.write(content[start:end])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()


class TestDownload:
    CONTENT = bytes(RNG.integers(0, 256, 5_000, dtype=np.uint8))

    def test_checked_and_named(self, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = download(server.source("a.bin", self.CONTENT), tmp_path / "new")
        assert path.read_bytes() == self.CONTENT
        assert "a.bin: 100 %" in capsys.readouterr().out
        assert [each.name for each in path.parent.iterdir()] == ["a.bin"]

    def test_what_is_there_is_not_asked_for(self, server: Server, tmp_path: Path) -> None:
        source = server.source("a.bin", self.CONTENT)
        download(source, tmp_path)
        download(source, tmp_path)
        assert len(server.asked) == 1

    def test_goes_on_where_it_was_cut_off(self, server: Server, tmp_path: Path) -> None:
        source = server.source("a.bin", self.CONTENT)
        server.ends_after = 1_234
        with pytest.raises(DataError, match=r"1,234 of 5,000 bytes.*run the same command"):
            download(source, tmp_path)
        assert download(source, tmp_path).read_bytes() == self.CONTENT
        assert server.asked == [None, "bytes=1234-"]

    def test_complete_but_not_yet_named(self, server: Server, tmp_path: Path) -> None:
        (tmp_path / "a.bin.part").write_bytes(self.CONTENT)
        assert download(server.source("a.bin", self.CONTENT), tmp_path).read_bytes() == self.CONTENT

    def test_a_wrong_checksum_is_refused(self, server: Server, tmp_path: Path) -> None:
        good = server.source("a.bin", self.CONTENT)
        server.files["/a.bin"] = b"something else"
        with pytest.raises(DataError, match=f"must have the sha256 {good.checksum}; got"):
            download(good, tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_a_file_that_is_not_there(self, server: Server, tmp_path: Path) -> None:
        source = server.source("a.bin", self.CONTENT)
        server.files.clear()
        with pytest.raises(DataError, match=r"cannot be read: HTTP Error 404.*by hand as"):
            download(source, tmp_path)

    def test_every_source_has_a_checksum_of_the_right_length(self) -> None:
        for source in (each for sources in fetch.SOURCES.values() for each in sources):
            assert len(source.checksum) == 2 * hashlib.new(source.algorithm).digest_size


@pytest.fixture
def offered(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server in place of the official sources."""
    monkeypatch.setattr(fetch, "SOURCES", {})
    monkeypatch.setattr(fetch, "_NAMES", {})
    monkeypatch.setattr(embedding, "PACKAGES", {})
    return server


def tarball(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def test_mnist(offered: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, y = RNG.integers(0, 256, (7, 28, 28), dtype=np.uint8), np.arange(7, dtype=np.uint8)

    def idx(array: np.ndarray) -> bytes:
        head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
        return gzip.compress(head + array.tobytes())

    arrays = (x[:5], y[:5], x[5:], y[5:])
    fetch.SOURCES["mnist"] = tuple(offered.source(f"{n}.gz", idx(array)) for n, array in enumerate(arrays))
    fetch.fetch(tmp_path, ["mnist"])
    with np.load(tmp_path / "mnist" / "mnist.npz") as stored:
        assert [stored[name].dtype for name in ("x_train", "y_test")] == [np.uint8, np.uint8]
        assert stored["x_test"].shape == (2, 28, 28)
    points = load("mnist", tmp_path)
    np.testing.assert_array_equal(points.x, x)
    np.testing.assert_array_equal(points.y, y)
    fetch.fetch(tmp_path, ["mnist"])
    assert capsys.readouterr().out.endswith("mnist is there\n")
    assert len(offered.asked) == 4


def test_cifar10(offered: Server, tmp_path: Path) -> None:
    x, y = RNG.integers(0, 256, (6, 4, 3, 32, 32), dtype=np.uint8), RNG.integers(0, 10, (6, 4))
    batches = {
        f"cifar-10-batches-py/{name}": pickle.dumps({b"data": x[n].reshape(4, -1), b"labels": y[n].tolist()}, 2)
        for n, name in enumerate([*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"])
    }
    batches["cifar-10-batches-py/batches.meta"] = pickle.dumps({b"label_names": [b"airplane", b"bird"]}, 2)
    fetch.SOURCES["cifar10"] = (offered.source("c.tar.gz", tarball(batches)),)
    fetch.fetch(tmp_path, ["cifar10"])
    points = load("cifar10", tmp_path)
    np.testing.assert_array_equal(points.x, x.reshape(24, 3, 32, 32).transpose(0, 2, 3, 1))
    np.testing.assert_array_equal(points.y, y.ravel())
    with np.load(tmp_path / "cifar10" / "labels.npz") as stored:
        assert (stored["y_train"].dtype, len(stored["y_train"]), len(stored["y_test"])) == (np.uint8, 20, 4)
        assert stored["names"].tolist() == ["airplane", "bird"]


class SentenceModel:
    """A stand-in: vectors from the length of the text."""

    def encode(self, texts: list[str], **_: object) -> np.ndarray:
        return np.array([[len(text), 1.0] for text in texts])


def test_newsgroups20(offered: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    posts = {
        "20news-bydate-train/sci.med/10": "caf\xe9".encode("latin-1"),
        "20news-bydate-train/sci.med/9": b"x" * 2_000,
        "20news-bydate-train/alt.atheism/11": b"one",
        "20news-bydate-test/sci.med/12": b"three",
    }
    fetch.SOURCES["newsgroups20"] = (offered.source("n.tar.gz", tarball(posts)),)
    monkeypatch.setattr(embedding, "sentence_model", lambda device: SentenceModel())
    fetch.fetch(tmp_path, ["newsgroups20"], "cpu")
    with gzip.open(tmp_path / "newsgroups20" / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert [row["id"] for row in rows] == ["alt.atheism/11", "sci.med/9", "sci.med/10"]  # by number, not by letter
    assert rows[2] == {"id": "sci.med/10", "label": 1, "label_name": "sci.med", "text": "caf\xe9"}
    with np.load(tmp_path / "newsgroups20" / "minilm.npz") as stored:
        assert stored["x_train"].dtype == np.float16
        assert stored["x_train"][:, 0].tolist() == [3, 1_800, 4]  # the beginning of each post
        assert stored["y_test"].tolist() == [1]
        assert stored["y_test"].dtype == np.int16
        assert stored["class_names"].tolist() == ["alt.atheism", "sci.med"]
    assert len(load("newsgroups20", tmp_path)) == 4


class ImageModel:
    """A stand-in with four maps: the three colours, and their sum of squares."""

    def extract_features(self, x: torch.Tensor) -> torch.Tensor:
        assert x.shape[1:] == (3, 128, 128)
        return torch.cat([x, (x**2).sum(dim=1, keepdim=True)], dim=1)


def test_tiny_imagenet(offered: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def jpeg(colour: tuple[int, ...]) -> bytes:
        buffer = io.BytesIO()
        Image.new("RGB", (64, 64), colour).save(buffer, "jpeg")
        return buffer.getvalue()

    buffer, root = io.BytesIO(), "tiny-imagenet-200"
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{root}/wnids.txt", "n02\nn01\n")
        archive.writestr(f"{root}/words.txt", "n01\tgoldfish\nn02\tcat, tabby\nn03\tother\n")
        for wordnet_id in ("n01", "n02"):
            for number in (10, 2, 0):
                name = f"{root}/train/{wordnet_id}/images/{wordnet_id}_{number}.JPEG"
                archive.writestr(name, jpeg(tuple(RNG.integers(0, 256, 3).tolist())))
        for number in range(2):
            archive.writestr(f"{root}/val/images/val_{number}.JPEG", jpeg((200, 40, 10 * number)))
        archive.writestr(
            f"{root}/val/val_annotations.txt", "val_0.JPEG\tn01\t0\t0\t9\t9\nval_1.JPEG\tn02\t0\t0\t9\t9\n"
        )
    fetch.SOURCES["tiny_imagenet"] = (offered.source("t.zip", buffer.getvalue()),)
    monkeypatch.setattr(embedding, "image_model", lambda device: ImageModel())
    monkeypatch.setattr(embedding, "_COMPONENTS", 3)
    fetch.fetch(tmp_path, ["tiny_imagenet"], "cpu")
    with np.load(tmp_path / "tiny_imagenet" / "features.npz") as stored:
        assert stored["x_train"].dtype == np.int8
        assert (stored["x_train"].shape, stored["x_test"].shape, stored["scale"].shape) == ((6, 3), (2, 3), (3,))
        assert stored["y_train"].tolist() == [0, 0, 0, 1, 1, 1]
        assert stored["y_test"].tolist() == [1, 0]
        assert stored["class_ids"].tolist() == ["n02", "n01"]
        assert stored["class_names"].tolist() == ["cat, tabby", "goldfish"]
        assert (np.abs(stored["x_train"]).max(axis=0) == 127).all()
    assert load("tiny_imagenet", tmp_path).x.dtype == np.float32


def test_components_and_rounding_lose_little() -> None:
    vectors = {"train": RNG.normal(size=(50, 8)) * np.arange(1, 9) + 3, "test": RNG.normal(size=(5, 8))}
    reduced = embedding.principal_components(vectors, 8)
    np.testing.assert_allclose(reduced["train"].mean(axis=0), 0, atol=1e-9)
    spread = reduced["train"].std(axis=0)
    assert (np.diff(spread) <= 0).all()
    distances = [np.linalg.norm(each["test"][0] - each["train"], axis=1) for each in (vectors, reduced)]
    np.testing.assert_allclose(*distances)  # a rotation
    rounded, scale = embedding.in_eight_bits(reduced)
    assert (np.abs(rounded["train"] * scale - reduced["train"]) <= 0.51 * scale).all()


def test_a_missing_package_is_named_before_anything_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PACKAGES", {"newsgroups20": {"no_such_module": "no-such-package"}})
    with pytest.raises(ConfigurationError, match="pip install no-such-package"):
        fetch.fetch(tmp_path, ["newsgroups20"])
    assert list(tmp_path.iterdir()) == []
