"""Folders that the real ``datasets`` library has written."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labelsieve.cli.main import main
from labelsieve.data.readers import items, open_data
from labelsieve.errors import DataError
from tests.integration.posts import CLASSES, exported, write_posts


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets

    return datasets


def cells(path: Path) -> dict[str, list[Any]]:
    reader = open_data(path)
    chunks = list(reader.chunks(size=3))
    return {name: [cell for chunk in chunks for cell in chunk[name].tolist()] for name in reader.columns}


@pytest.mark.parametrize("num_shards", [1, 3])
def test_every_cell_is_as_it_was(tmp_path: Path, datasets: Any, num_shards: int) -> None:
    made = datasets.Dataset.from_dict(
        {
            "text": ["007", "NA", "", None, "👍", "=1+1", "\u202eright"],
            "number": [1, 2, None, 4, 5, 6, 7],
            "topic": [0, 1, 0, 1, 0, 1, 0],
            "words": [["a", "b"], [], ["c"], ["d"], ["e"], ["f"], ["g"]],
            "day": [datetime.date(2024, 2, 29)] * 7,
        },
        features=datasets.Features(
            {
                "text": datasets.Value("string"),
                "number": datasets.Value("int64"),
                "topic": datasets.ClassLabel(names=["food", "travel"]),
                "words": datasets.List(datasets.Value("string")),
                "day": datasets.Value("date32"),
            }
        ),
    )
    made.save_to_disk(str(tmp_path / "saved"), num_shards=num_shards)
    found = cells(tmp_path / "saved")
    assert found["text"] == made["text"][:]
    assert found["number"] == made["number"][:]
    assert found["topic"] == made["topic"][:]
    assert found["words"][:3] == ['["a","b"]', "[]", '["c"]']
    assert found["day"] == ["2024-02-29"] * 7


def test_rows_that_were_chosen_and_shuffled(tmp_path: Path, datasets: Any) -> None:
    made = datasets.Dataset.from_dict({"text": [f"text {n}" for n in range(20)], "n": range(20)})
    chosen = made.filter(lambda row: row["n"] % 2 == 0).shuffle(seed=1).select(range(7))
    chosen.save_to_disk(str(tmp_path / "saved"))
    ((ids, contents),) = items(open_data(tmp_path / "saved"), text="text", id="n")
    assert ids == [str(n) for n in chosen["n"]]
    assert contents == chosen["text"][:]


def test_splits(tmp_path: Path, datasets: Any) -> None:
    made = datasets.Dataset.from_dict({"text": ["one", "two", "three", "four"]})
    made.train_test_split(0.5, seed=0).save_to_disk(str(tmp_path / "saved"))
    with pytest.raises(DataError, match=r"must be one split of a dataset; .* has train, test"):
        open_data(tmp_path / "saved")
    assert len(cells(tmp_path / "saved" / "train")["text"]) == 2


def test_from_a_saved_dataset_to_one_with_labels(tmp_path: Path, datasets: Any) -> None:
    """In with ``save_to_disk``, out with ``load_from_disk``."""
    posts = pd.read_csv(write_posts(tmp_path / "posts.csv", 500), dtype=str)
    datasets.Dataset.from_pandas(posts).save_to_disk(str(tmp_path / "posts"), num_shards=2)
    folder = tmp_path / "project"
    budgets = ["--train-budget", "60", "--validation-budget", "150"]
    named = ["--classes", ",".join(CLASSES), "--text", "body", "--id", "post"]
    assert main(["init", str(folder), "--data", str(tmp_path / "posts"), *named, *budgets]) == 0
    assert main(["run", str(folder), "--simulate", "topic"]) == 0
    out = tmp_path / "labelled"
    assert main(["export", str(folder), "--format", "hugging-face", "--content", "--out", str(out)]) == 0
    labelled, as_csv = datasets.load_from_disk(str(out)), exported(folder, "--content")
    assert labelled.features["label"].int2str(labelled["label"][:]) == as_csv["label"].tolist()
    assert labelled["id"][:] == as_csv["id"].tolist()
    assert labelled["content"][:] == as_csv["content"].tolist()
    assert {"human", "machine"} == set(labelled["source"])
