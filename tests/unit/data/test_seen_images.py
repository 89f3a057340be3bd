"""What a network sees in the images of a pool: once, all of them, and the same wherever it is asked for."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from labelsieve.data.embeddings import efficientnet
from labelsieve.data.pool import Pool
from labelsieve.errors import DataError

IMAGES = np.random.default_rng(0).integers(256, size=(150, 20, 20, 3), dtype=np.uint8)


class Network:
    """Sees the mean colour of an image, in the first three of its features; counts what it was shown."""

    batch_size = 8

    def __init__(self) -> None:
        self.shown = 0

    def fitted(self, image: Any) -> np.ndarray:
        return np.asarray(image)

    def see(self, images: list[np.ndarray]) -> np.ndarray:
        assert 0 < len(images) <= self.batch_size
        self.shown += len(images)
        features = np.zeros((len(images), efficientnet.WIDTH), dtype=np.float32)
        features[:, :3] = [image.mean(axis=(0, 1)) for image in images]
        return features


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    found = Network()
    monkeypatch.setattr(efficientnet, "opened", lambda _name, _device: found)
    return found


def told(into: list[tuple[int, int]]) -> Any:
    return lambda done, total: into.append((done, total))


def test_every_image_is_looked_at_once(network: Network) -> None:
    seen, progress = Pool(IMAGES).seen("cpu"), []
    seen.source.look(told(progress))
    seen.source.look(told(progress))
    assert network.shown == len(IMAGES)
    assert (progress[0], progress[-1]) == ((0, 150), (150, 150))
    rows = np.array([7, 3, 149, 3])
    assert np.allclose(seen.take(rows)[:, :3], IMAGES[rows].mean(axis=(1, 2)))
    assert network.shown == len(IMAGES)


def test_a_few_are_looked_at_for_whoever_wants_them_before(network: Network) -> None:
    seen = Pool(IMAGES).seen("cpu")
    before = seen.take(np.array([5, 90]))
    assert network.shown == 2
    seen.source.look(told([]))
    assert np.array_equal(seen.take(np.array([5, 90])), before)


def test_pools_keep_their_names_and_what_was_seen(network: Network) -> None:
    pool = Pool(IMAGES, ids=[f"image {row}" for row in range(len(IMAGES))])
    assert pool.seen("cpu") is pool.seen("cpu")
    assert pool.seen("cpu").ids.tolist() == pool.ids.tolist()
    assert pool.point_shape == (20, 20, 3)
    assert pool.seen("cpu").point_shape == (efficientnet.WIDTH,)


def test_what_was_seen_travels(network: Network) -> None:
    pool = Pool(IMAGES)
    pool.seen("cpu").source.look(told([]))
    arrived = pickle.loads(pickle.dumps(pool)).seen("cpu")
    assert np.array_equal(arrived.take(np.arange(150)), pool.seen("cpu").take(np.arange(150)))
    assert network.shown == len(IMAGES)


def test_a_full_disk_says_what_to_do(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def write(self, _content: bytes) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    with pytest.raises(DataError, match=r"1 MiB of .*No space left on device.*TMPDIR"):
        Pool(IMAGES).seen("cpu").source.look(told([]))


@pytest.fixture(scope="module")
def real() -> efficientnet.EfficientNetLite:
    return efficientnet.opened(efficientnet.BEST, "cpu")


class TestTheRealNetwork:
    def test_features_do_not_depend_on_what_else_is_looked_at(self, real: efficientnet.EfficientNetLite) -> None:
        seen = Pool(IMAGES[:20]).seen("cpu")
        alone = seen.take(np.array([13]))
        seen.source.look(told([]))
        assert np.array_equal(seen.take(np.array([13])), alone)
        assert np.allclose(np.linalg.norm(seen.take(np.arange(20)), axis=1), 1, atol=1e-5)

    def test_all_of_a_small_image_counts(self, real: efficientnet.EfficientNetLite) -> None:
        from PIL import Image

        small, large = IMAGES[0], np.kron(IMAGES[0], np.ones((8, 8, 1), dtype=np.uint8))
        for image, counts in ((small, True), (large, False)):
            framed = image.copy()
            framed[0], framed[-1], framed[:, 0], framed[:, -1] = 0, 0, 0, 0
            plain, dark = real.see([real.fitted(Image.fromarray(each)) for each in (image, framed)])
            assert np.allclose(plain, dark, atol=1e-6) is not counts
