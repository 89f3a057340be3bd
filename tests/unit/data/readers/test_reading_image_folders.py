"""Folders of images: what is found, in which order, and what is not followed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labelsieve.data.readers import items, open_data, understand
from labelsieve.errors import DataError

NOISE = np.random.default_rng(0).integers(256, size=(40, 30, 3), dtype=np.uint8)


def image(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(NOISE).save(path)
    return path


def paths(folder: Path) -> list[str]:
    return [path for chunk in open_data(folder).chunks(["path"]) for path in chunk["path"]]


def test_images_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["a/x.png", "a-b/x.png", "a.png", "a/b/c/y.JPG", "z.gif", "B.bmp", "a/a.webp", "aa/q.tiff"]
    for name in names:
        image(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no image")
    image(tmp_path / ".hidden" / "x.png")
    image(tmp_path / "a" / ".x.png")
    assert paths(tmp_path) == sorted(names)
    first, *_, last = open_data(tmp_path).chunks(size=3)
    assert first["folder"].tolist() == [name.rpartition("/")[0] for name in sorted(names)[:3]]
    assert last.index.tolist() == [7, 8]
    pairs = [pair for ids, contents in items(open_data(tmp_path), size=3) for pair in zip(ids, contents, strict=True)]
    assert pairs == [(name, name) for name in sorted(names)]


def test_odd_names_are_kept(tmp_path: Path) -> None:
    names = [
        "a b.png",
        "a\nb.png",
        'quote".png',
        "ünï.png",
        "👍.png",
        "-rf.png",
        "שלום.png",
        "a%2f..png",
        "\x1b[31m.png",
    ]
    for name in names:
        image(tmp_path / name)
    assert paths(tmp_path) == sorted(names)
    words = understand(open_data(tmp_path)).in_words()
    assert "images that cannot be read: none" in words
    assert not any("\x1b" in line or "\n" in line for line in words)


def test_names_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    image(tmp_path / "good.png")
    bad = os.fsencode(tmp_path) + b"/caf\xe9.png"
    try:
        os.rename(image(tmp_path / "other.png"), bad)
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    with pytest.raises(DataError, match=r"caf\\xe9\.png.*convmv"):
        paths(tmp_path)


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    image(folder / "a.png")
    outside = image(tmp_path / "outside" / "secret.png")
    (folder / "inner.png").symlink_to("a.png")
    (folder / "outer.png").symlink_to(outside)
    (folder / "outer_folder").symlink_to(outside.parent)
    (folder / "circle").symlink_to(folder)
    (folder / "broken.png").symlink_to("gone.png")
    assert paths(folder) == ["a.png", "inner.png"]
    (tmp_path / "door").symlink_to(folder)
    assert paths(tmp_path / "door") == ["a.png", "inner.png"]


def test_folders_without_images(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"must hold images \(\.bmp.*give the file itself"):
        open_data(tmp_path)


def test_unknown_kinds_list_the_known_ones(tmp_path: Path) -> None:
    for name, words in {"a.xlsx": r"\.csv.*Save the sheet as CSV", "a.zip": r"\.parquet", "noending": r"\.npz"}.items():
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(DataError, match=words):
            open_data(tmp_path / name)
    with pytest.raises(DataError, match="nothing at"):
        open_data(tmp_path / "gone.csv")
    image(tmp_path / "a.png")
    with pytest.raises(DataError, match="encoding is for text files"):
        open_data(tmp_path, encoding="utf-8")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_what_may_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "a.csv").chmod(0)
    with pytest.raises(DataError, match="must be readable"):
        open_data(tmp_path / "a.csv")
