"""Rows of tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelsieve.data.embeddings import FeatureFile, FeatureSettings, compute
from labelsieve.errors import DataError
from tests.unit.data.embeddings.samples import Listed, silent


def features(rows: list[Any], folder: Path) -> tuple[FeatureFile, Any]:
    contents = Listed([json.dumps(row) for row in rows])
    file = compute("table", contents, folder, settings=FeatureSettings(), progress=silent)
    return file, np.load(file.path, allow_pickle=False)


def test_numbers_categories_and_what_is_left_out(tmp_path: Path) -> None:
    rows = [
        {"age": row % 7, "price": f"{row / 3}" if row % 4 else "", "kind": "xyz"[row % 3], "id": f"r{row}", "one": 1}
        for row in range(60)
    ]
    file, values = features(rows, tmp_path)
    assert file.parts == ["numbers 3", "categories 3"]
    assert file.note == "Numbers: age, price. Categories: kind. Left out: id (all different), one (one value)."
    assert np.allclose(values[:, :3].mean(axis=0), 0, atol=1e-5)
    assert np.allclose(values[:, :3].std(axis=0), 1, atol=1e-5)
    assert (values[:, 2] > 0).tolist() == [row % 4 == 0 for row in range(60)]  # where the price was missing
    assert (values[:, 3:].argmax(axis=1) == np.arange(60) % 3).all()
    assert features(rows, tmp_path)[0] == file


def test_rare_categories_are_put_together(tmp_path: Path) -> None:
    rows = [{"town": "big" if row < 50 else f"hamlet {row}"} for row in range(60)]
    _, values = features(rows, tmp_path)
    assert values.shape == (60, 2)
    assert values[:, 0].sum() == 50


def test_columns_may_be_missing_mixed_or_nested(tmp_path: Path) -> None:
    rows = [{"a": 1.5, "mixed": 3}, {"b": True, "mixed": "3"}, {"a": None, "mixed": "n/a"}, {"nested": [1, 2]}] * 3
    file, values = features(rows, tmp_path)
    assert np.isfinite(values).all()
    assert "mixed" in file.note.split("Categories:")[1]


def test_numbers_too_large_count_as_missing(tmp_path: Path) -> None:
    rows = [{"n": 10**400}, {"n": float("inf")}, {"n": "1e300"}, {"n": 1}, {"n": 2}, {"n": "nan"}]
    _, values = features(rows, tmp_path)
    assert np.isfinite(values).all()


def test_rows_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 1 is '\\[1\\]'"):
        features([{"a": 1}, [1]], tmp_path)
    broken = Listed(['{"a": 1}', "{a"])
    with pytest.raises(DataError, match="row 1 cannot be read"):
        compute("table", broken, tmp_path, settings=FeatureSettings(), progress=silent)


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"tells rows apart; id \(all different\), one \(one value\)"):
        features([{"id": f"r{row}", "one": 1} for row in range(5)], tmp_path)
    with pytest.raises(DataError, match="it has no columns"):
        features([{}, {}], tmp_path)
