"""Parquet, Hugging Face datasets and arrays."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labelsieve.data.readers import items, open_data, understand
from labelsieve.data.readers.arrays import features
from labelsieve.data.readers.base import CHUNK_BYTES
from labelsieve.errors import DataError

TABLE = pa.table(
    {
        "text": ["007", "NA", "", None, "👍"],
        "number": pa.array([1, 2, None, 4, 5], pa.int64()),
        "share": [0.5, 1.0, float("nan"), None, 2.0],
        "yes": [True, False, None, True, True],
        "day": [datetime.date(2024, 2, 29)] * 5,
        "price": [decimal.Decimal("1.10")] * 5,
        "list": [[1, 2], [], None, [3], [4]],
        "bytes": [b"abc", b"\xff\xfe", None, b"", b"x"],
        "kind": pa.array(["a", "b", "a", "a", "b"]).dictionary_encode(),
    }
)


def parquet(folder: Path, table: pa.Table) -> Path:
    pq.write_table(table, folder / "data.parquet", row_group_size=2)
    return folder / "data.parquet"


def dataset(folder: Path, table: pa.Table, **state: Any) -> Path:
    """As ``save_to_disk`` lays it out."""
    folder = folder / "dataset"
    folder.mkdir(exist_ok=True)
    names = [f"data-0000{part}-of-00002.arrow" for part in range(2)]
    for name, part in zip(names, (table.slice(0, 3), table.slice(3)), strict=True):
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(part, max_chunksize=2)
    content = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "f", "_split": "train"}
    (folder / "state.json").write_text(json.dumps(content | state))
    (folder / "dataset_info.json").write_text("{}")
    return folder


@pytest.mark.parametrize("write", [parquet, dataset])
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_typed_cells_stay_what_they_are(tmp_path: Path, write: Callable[[Path, pa.Table], Path], size: int) -> None:
    reader = open_data(write(tmp_path, TABLE))
    assert reader.columns == TABLE.column_names
    chunks = list(reader.chunks(size=size))
    assert [len(chunk) for chunk in chunks[:-1]] == [size] * (len(chunks) - 1)
    cells = {name: [cell for chunk in chunks for cell in chunk[name].tolist()] for name in reader.columns}
    assert [place for chunk in chunks for place in chunk.index] == [1, 2, 3, 4, 5]
    assert cells["text"] == ["007", "NA", "", None, "👍"]
    assert cells["number"] == [1, 2, None, 4, 5]
    assert {type(cell) for cell in cells["number"]} == {int, type(None)}
    assert cells["share"][:2] == [0.5, 1.0]
    assert np.isnan(cells["share"][2])
    assert cells["yes"] == [True, False, None, True, True]
    assert cells["day"][0] == "2024-02-29"
    assert cells["price"][0] == "1.10"
    assert cells["list"] == ["[1,2]", "[]", None, "[3]", "[4]"]
    assert cells["bytes"] == ["abc", "//4=", None, "", "x"]
    assert cells["kind"] == ["a", "b", "a", "a", "b"]


@pytest.mark.parametrize("write", [parquet, dataset])
def test_contents_of_typed_rows_keep_their_types(tmp_path: Path, write: Callable[[Path, pa.Table], Path]) -> None:
    reader = open_data(write(tmp_path, TABLE))
    ((ids, contents),) = items(reader, columns=["share", "number", "text"])
    assert ids == ["0", "1", "2", "3", "4"]
    assert contents[0] == '{"share":0.5,"number":1,"text":"007"}'
    assert contents[2] == '{"share":null,"number":null,"text":""}'
    ((ids, contents),) = items(open_data(write(tmp_path, TABLE.slice(0, 2))), id="number", text="text")
    assert (ids, contents) == (["1", "2"], ["007", "NA"])


@pytest.mark.parametrize("write", [parquet, dataset])
def test_tables_without_rows_or_with_repeated_columns(tmp_path: Path, write: Callable[[Path, pa.Table], Path]) -> None:
    with pytest.raises(DataError, match="row of data at least"):
        open_data(write(tmp_path, TABLE.slice(0, 0)))
    with pytest.raises(DataError, match="'a' comes more than once"):
        open_data(write(tmp_path, pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "dataset"])
def test_chunks_of_very_long_rows_are_shorter(tmp_path: Path, kind: str) -> None:
    longest = CHUNK_BYTES // 8
    texts = [f"{row:05}" * (longest // 5) for row in range(12)]
    table = pa.table({"text": texts, "n": range(12)})
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        path.write_text("n,text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts)))
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"n": n, "text": text}) + "\n" for n, text in enumerate(texts)))
    else:
        path = parquet(tmp_path, table) if kind == "parquet" else dataset(tmp_path, table)
    lengths, first_letters, places = [], [], []
    for chunk in open_data(path).chunks(["text", "n"]):
        lengths.append(sum(map(len, chunk["text"])))
        first_letters += [text[:5] for text in chunk["text"]]
        places += chunk.index.tolist()
    assert len(lengths) > 1
    assert max(lengths) <= CHUNK_BYTES + 2 * longest
    assert first_letters == [f"{row:05}" for row in range(12)]
    assert places == [row + 1 + (kind == "csv") for row in range(12)]


def test_what_is_not_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"must be a Parquet file.*\.csv"):
        open_data(path)
    whole = parquet(tmp_path, pa.table({"a": np.arange(100_000)})).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="must be a Parquet file"):
        open_data(path)


def test_datasets_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="flatten_indices"):
        open_data(dataset(tmp_path, TABLE, _indices_data_files=[{"filename": "indices.arrow"}]))
    (tmp_path / "outside.arrow").write_bytes(b"x")
    for name in ("../outside.arrow", "gone.arrow", None):
        with pytest.raises(DataError, match="in its own folder"):
            open_data(dataset(tmp_path, TABLE, _data_files=[{"filename": name}]))
    folder = dataset(tmp_path, TABLE)
    (folder / "data-00000-of-00002.arrow").write_bytes(b"no arrow")
    with pytest.raises(DataError, match="must be an Arrow file"):
        open_data(folder)
    (folder / "state.json").write_text("[")
    with pytest.raises(DataError, match=r"state\.json.*JSON"):
        open_data(folder)


def test_a_dataset_of_splits_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(DataError, match=r"train, test.*train$"):
        open_data(tmp_path)


X = np.arange(24, dtype=np.float32).reshape(6, 4)
IMAGES = np.arange(6 * 5 * 4 * 3, dtype=np.uint8).reshape(6, 5, 4, 3)


@pytest.mark.parametrize("array", [X, IMAGES, IMAGES[..., 0], np.asfortranarray(X), X.astype(">f8"), X > 3])
def test_arrays_are_mapped_from_npy_and_npz(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "b.npz", other=np.arange(3), features=array)
    np.savez_compressed(tmp_path / "c.npz", X=array)
    np.savez(tmp_path / "d.npz", array)
    for name in ("a.npy", "b.npz", "c.npz", "d.npz"):
        back = features(tmp_path / name)
        np.testing.assert_array_equal(back, array)
        assert back.dtype == array.dtype
        assert isinstance(back, np.memmap) == (name != "c.npz")


def test_arrays_as_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X)
    reader = open_data(tmp_path / "a.npy")
    assert reader.columns == []
    assert list(items(reader, size=4)) == [(["0", "1", "2", "3"], [""] * 4), (["4", "5"], [""] * 2)]
    assert understand(reader).in_words()[0].endswith("a.npy: 6 rows")
    for ids in (np.array(list("abcdef")), np.arange(10, 16)):
        np.savez(tmp_path / "b.npz", x=X, ids=ids)
        reader = open_data(tmp_path / "b.npz")
        assert reader.columns == ["id"]
        assert list(items(reader)) == [([str(id_) for id_ in ids], [""] * 6)]
    np.savez(tmp_path / "b.npz", x=X, ids=np.array(list("abcdbf")))
    with pytest.raises(DataError, match=r"rows 2 and 5 .*'b'"):
        understand(open_data(tmp_path / "b.npz"))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.array([{"a": 1}] * 2, dtype=object)}, "objects"),
        ({"x": np.arange(3)}, r"shape \(3,\)"),
        ({"x": np.array([["a"]])}, "must hold numbers"),
        ({"x": np.empty((0, 3))}, r"shape \(0, 3\)"),
        ({"y": X}, "named x, X, features or arr_0; it holds 'y'"),
        ({"x": X, "ids": np.arange(5)}, "each of the 6 points"),
        ({"x": X, "ids": np.array(list("abcdef"), dtype=object)}, "dtype=str"),
    ],
)
def test_arrays_that_cannot_be_used(tmp_path: Path, arrays: dict[str, np.ndarray], words: str) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=words):
        open_data(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_damaged_arrays_and_pickles_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"no array")
    with pytest.raises(DataError, match=r"written by np\.save"):
        open_data(path)
    np.save(path, np.array([{}]), allow_pickle=True) if name == "a.npy" else np.savez(path, x=np.array([{}]))
    with pytest.raises(DataError, match=r"written by np\.save"):
        open_data(path)
    save = np.save if name == "a.npy" else np.savez
    save(path, np.zeros((1000, 10)))
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DataError, match=r"written by np\.save"):
        open_data(path)
