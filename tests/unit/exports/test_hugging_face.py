"""The folder that ``datasets`` reads."""

from __future__ import annotations

import json

import pytest

from labelsieve.exports import write_export
from tests.unit.exports.rows import CLASSES, HUMAN, ROWS, chunk


def export(path, rows, classes=CLASSES):
    write_export([chunk([row]) for row in rows], path, "hugging-face", classes=classes, kind="text")
    return path


def test_same_rows_same_bytes_and_other_rows_another_fingerprint(tmp_path):
    first, again, other = (
        export(tmp_path / name, rows) for name, rows in zip("abc", [ROWS, ROWS, ROWS[:2]], strict=True)
    )
    contents = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in (first, again, other)]
    assert sorted(contents[0]) == ["data-00000-of-00001.arrow", "dataset_info.json", "state.json"]
    assert contents[0] == contents[1]
    fingerprints = [json.loads(content["state.json"])["_fingerprint"] for content in contents]
    assert fingerprints[0] != fingerprints[2]


class TestWithDatasets:
    @pytest.fixture(autouse=True)
    def datasets(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        import datasets

        return datasets

    def test_loads(self, tmp_path, datasets):
        loaded = datasets.load_from_disk(str(export(tmp_path / "out", ROWS)))
        assert loaded.features["label"] == datasets.ClassLabel(names=CLASSES)
        assert loaded.features["round"] == datasets.Value("int64")
        assert loaded[:]["id"] == ["007", "=1+1", " 3 "]
        assert loaded[:]["label"] == [0, 1, None]
        assert loaded[:]["confidence"] == [None, 0.1 + 0.2, None]
        assert loaded[:]["content"] == [row["content"] for row in ROWS]

    def test_can_be_worked_with_and_saved(self, tmp_path, datasets):
        loaded = datasets.load_from_disk(str(export(tmp_path / "out", ROWS)))
        labelled = loaded.filter(lambda row: row["label"] is not None).map(lambda row: {"length": len(row["content"])})
        labelled.save_to_disk(str(tmp_path / "again"))
        assert datasets.load_from_disk(str(tmp_path / "again"))[:]["length"] == [
            len(row["content"]) for row in ROWS[:2]
        ]

    def test_integers_and_nothing(self, tmp_path, datasets):
        loaded = datasets.load_from_disk(str(export(tmp_path / "out", [HUMAN | {"id": 5, "label": 7}], [3, 7])))
        assert (loaded[0]["id"], loaded.features["label"].int2str(loaded[0]["label"])) == (5, "7")
        assert len(datasets.load_from_disk(str(export(tmp_path / "none", [])))) == 0
