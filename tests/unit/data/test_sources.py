"""Every place that keeps points gives the same points, and says clearly what it cannot use."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from labelsieve.data.pool import Pool
from labelsieve.errors import ConfigurationError, DataError

N = 60
X = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
GREY = np.random.default_rng(1).integers(256, size=(N, 6, 5), dtype=np.uint8)
COLOUR = np.random.default_rng(2).integers(256, size=(N, 6, 5, 3), dtype=np.uint8)


def npy(folder: Path, x: np.ndarray) -> Path:
    np.save(folder / "points.npy", x)
    return folder / "points.npy"


def columns(folder: Path, x: np.ndarray, **others: object) -> Path:
    table = pa.table({f"f{i}": x[:, i] for i in range(x.shape[1])} | others)
    pq.write_table(table, folder / "columns.parquet", row_group_size=7)
    return folder / "columns.parquet"


def lists(folder: Path, x: np.ndarray) -> Path:
    values = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), x.shape[1])
    pq.write_table(pa.table({"embedding": values}), folder / "lists.parquet", row_group_size=25)
    return folder / "lists.parquet"


def images(folder: Path, pixels: np.ndarray) -> Path:
    (folder / "images" / "more").mkdir(parents=True)
    for number, image in enumerate(pixels):
        place = "more/" if number >= N // 2 else ""
        Image.fromarray(image).save(folder / "images" / f"{place}{number:03}.png")
    return folder / "images"


KINDS = {
    "npy": (npy, X),
    "npy of half precision": (npy, X.astype(np.float16)),
    "npy of integers": (npy, (100 * X).astype(np.int16)),
    "npy of images": (npy, COLOUR),
    "npy in Fortran order": (lambda folder, x: npy(folder, np.asfortranarray(x)), X),
    "images in Fortran order": (lambda folder, x: npy(folder, np.asfortranarray(x)), COLOUR),
    "big-endian npy": (lambda folder, x: npy(folder, x.astype(">f4")), X),
    "Parquet columns": (columns, X),
    "Parquet columns of half precision": (columns, X.astype(np.float16)),
    "Parquet lists": (lists, X),
    "grey images": (images, GREY),
    "colour images": (images, COLOUR),
    "mapped": (lambda folder, x: np.load(npy(folder, x), mmap_mode="r"), X),
    "part of a map": (lambda folder, x: np.load(npy(folder, np.r_[x[:9], x]), mmap_mode="r")[9:], X),
    "private map": (lambda folder, x: np.load(npy(folder, x), mmap_mode="c"), X),
    "in memory": (lambda folder, x: x, X),
}


@pytest.fixture(params=KINDS)
def kept(request, tmp_path):
    make, points = KINDS[request.param]
    return Pool(make(tmp_path, points)), points


class TestEverySource:
    def test_knows_what_it_holds(self, kept):
        pool, points = kept
        assert (len(pool), pool.point_shape, pool.source.dtype) == (N, points.shape[1:], points.dtype)

    @pytest.mark.parametrize(
        "rows", [[], [0], [59], range(N), range(5, 40), [3, 4, 20, 41], [40, 2, 2, 59, 0, 40], [7, 6, 5]]
    )
    def test_takes_rows_in_any_order(self, kept, rows):
        pool, points = kept
        rows = np.array(rows, dtype=np.int64)
        taken = pool.take(rows)
        assert taken.dtype == points.dtype
        np.testing.assert_array_equal(taken, points[rows])

    @pytest.mark.parametrize("size", [1, 7, 16, 59, 60, 61])
    @pytest.mark.parametrize("rows", [np.arange(N), np.arange(0, N, 3), np.array([], dtype=np.int64)])
    def test_reads_increasing_rows_in_chunks_of_one_size(self, kept, rows, size):
        pool, points = kept
        chunks = list(pool.source.chunks(rows, size))
        assert [len(chunk) for chunk in chunks] == [len(rows[i : i + size]) for i in range(0, len(rows), size)]
        np.testing.assert_array_equal(np.concatenate([points[:0], *chunks]), points[rows])

    @pytest.mark.parametrize("rows", [[2, 1], [1, 1], [-1, 3], [N]])
    def test_refuses_rows_that_do_not_increase_or_do_not_exist(self, kept, rows):
        with pytest.raises(DataError, match="increasing and lie between 0 and 59"):
            kept[0].source.chunks(np.array(rows), 10)

    def test_has_the_fingerprint_of_the_same_points_in_memory(self, kept):
        pool, points = kept
        assert pool.fingerprint() == Pool(points, ids=pool.ids).fingerprint()


def test_arrays_are_kept_as_they_are_and_cannot_be_changed_through_what_is_read():
    x = X.copy()
    pool = Pool(x)
    x[3] = 7.0
    taken = pool.take(np.arange(N))
    np.testing.assert_array_equal(taken[3], [7.0] * 4)
    taken[:] = 0.0
    np.testing.assert_array_equal(x[4:], X[4:])


def test_changes_in_a_private_map_stay(tmp_path):
    mapped = np.load(npy(tmp_path, X), mmap_mode="c")
    mapped[7] = 5.0
    pool = Pool(mapped)
    np.testing.assert_array_equal(pool.take(np.arange(6, 8)), [X[6], [5.0] * 4])
    assert (mapped[7] == 5.0).all()


def test_ids_of_files(tmp_path):
    assert Pool(npy(tmp_path, X)).ids.tolist() == list(range(N))
    assert Pool(images(tmp_path, GREY)).ids[[0, -1]].tolist() == ["000.png", "more/059.png"]
    named = columns(tmp_path, X, id=[f"p{i}" for i in range(N)])
    assert Pool(named).ids[[0, -1]].tolist() == ["p0", "p59"]
    assert Pool(named).point_shape == (4,)
    assert Pool(named, ids=range(N)).ids[-1] == 59


def test_the_index_pandas_saves_names_the_points_and_is_no_feature(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"), index=range(1000, 1000 + 2 * N, 2)).iloc[::-1]
    frame.index = pd.Index(frame.index.tolist())
    frame.to_parquet(tmp_path / "frame.parquet")
    pool = Pool(tmp_path / "frame.parquet")
    assert pool.point_shape == (4,)
    assert pool.ids.tolist() == Pool(frame).ids.tolist() == frame.index.tolist()


def test_parquet_columns_of_different_types_share_the_widest(tmp_path):
    pq.write_table(
        pa.table({"a": np.arange(3, dtype=np.int8), "b": np.ones(3), "c": [True, False, True]}), tmp_path / "t.pq"
    )
    np.testing.assert_array_equal(Pool(tmp_path / "t.pq").take(np.arange(3)), [[0, 1, 1], [1, 1, 0], [2, 1, 1]])


@pytest.mark.parametrize("kind", ["npy", "Parquet columns", "Parquet lists", "mapped", "in memory"])
def test_nan_far_down_is_found_when_the_pool_is_opened(tmp_path, kind):
    x = np.ones((20_000, 3), dtype=np.float32)
    x[[17_001, 19_999], [0, 2]] = np.nan, np.inf
    with pytest.raises(DataError, match=r"2 of 20000 points have NaN or infinity \(rows 17001, 19999\)"):
        Pool(KINDS[kind][0](tmp_path, x))


class TestBadFiles:
    def test_missing(self, tmp_path):
        with pytest.raises(DataError, match=r"there is nothing at .*nowhere\.npy"):
            Pool(tmp_path / "nowhere.npy")

    def test_unknown_kind(self, tmp_path):
        (tmp_path / "points.csv").write_text("1,2")
        with pytest.raises(DataError, match=r"\.npy file, a \.parquet file or a folder of images; got .*points\.csv"):
            Pool(str(tmp_path / "points.csv"))

    def test_truncated_npy(self, tmp_path):
        path = npy(tmp_path, X)
        path.write_bytes(path.read_bytes()[:-10])
        with pytest.raises(DataError, match=r"points\.npy' must be an array of numbers written by np\.save"):
            Pool(path)

    def test_pickled_objects_are_not_loaded(self, tmp_path):
        np.save(tmp_path / "objects.npy", np.array([[{}], [[]]], dtype=object), allow_pickle=True)
        with pytest.raises(DataError, match=r"cannot be read: .*Python objects"):
            Pool(tmp_path / "objects.npy")

    @pytest.mark.parametrize("suffix", ["npy", "parquet"])
    def test_something_else_under_that_name(self, tmp_path, suffix):
        (tmp_path / f"text.{suffix}").write_text("a letter, not an array")
        with pytest.raises(DataError, match=rf"text\.{suffix}' must be .*cannot be read"):
            Pool(tmp_path / f"text.{suffix}")

    @pytest.mark.parametrize(
        ("x", "message"),
        [
            (np.array([["a", "b"]]), "must be numeric; got dtype <U1"),
            (np.array([[1j]]), "must be numeric; got dtype complex128"),
            (np.ones(5), r"shape \(5,\).*reshape"),
        ],
    )
    def test_npy_of_something_else(self, tmp_path, x, message):
        with pytest.raises(DataError, match=message):
            Pool(npy(tmp_path, x))

    def test_npy_that_changes_while_in_use(self, tmp_path):
        pool = Pool(npy(tmp_path, X))
        npy(tmp_path, X[:30])
        with pytest.raises(DataError, match=r"must not change .*\(60, 4\) and now holds .*\(30, 4\)"):
            pool.take(np.arange(5))

    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ({"a": [1.0], "text": ["b"]}, "column 'text' is string.*call it 'id'"),
            ({"a": [[1.0, 2.0]]}, "column 'a' is list"),
            ({"a": [1.0, None]}, "column 'a' has empty places"),
            ({"a": [1, None]}, "column 'a' has empty places"),
            ({"id": [1, 2]}, "at least one numeric column besides the ids"),
            ({"id": [1, 1], "a": [1, 2]}, "ids must be unique"),
            ({"id": ["x", None], "a": [1, 2]}, "ids must be strings or integers"),
            ({"a": np.ones(0)}, "at least one point"),
        ],
    )
    def test_parquet_without_a_number_for_every_point(self, tmp_path, table, message):
        pq.write_table(pa.table(table), tmp_path / "t.parquet")
        with pytest.raises(DataError, match=message):
            Pool(tmp_path / "t.parquet")

    def test_parquet_lists_with_an_empty_place(self, tmp_path):
        values = pa.array([[1.0, None], [2.0, 3.0]], type=pa.list_(pa.float32(), 2))
        pq.write_table(pa.table({"v": values}), tmp_path / "t.parquet")
        with pytest.raises(DataError, match="column 'v' has empty places"):
            Pool(tmp_path / "t.parquet")

    def test_parquet_with_two_names_for_a_point(self, tmp_path):
        pd.DataFrame({"id": ["x", "y"], "a": [1, 2]}, index=[5, 9]).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(DataError, match="one column that names the points; it has __index_level_0__, id"):
            Pool(tmp_path / "t.parquet")

    def test_parquet_without_pyarrow(self, tmp_path, monkeypatch):
        path = columns(tmp_path, X)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(ConfigurationError, match="pip install pyarrow"):
            Pool(path)


class TestBadImages:
    def test_none(self, tmp_path):
        (tmp_path / "readme.txt").write_text("no image")
        with pytest.raises(DataError, match=r"must hold images .*holds none"):
            Pool(tmp_path)

    def test_one_of_another_size(self, tmp_path):
        folder = images(tmp_path, GREY)
        Image.fromarray(GREY[0, :4]).save(folder / "more" / "040.png")
        with pytest.raises(DataError, match=r"'000.png' is 5 × 6 L and 'more/040.png' is 5 × 4 L"):
            Pool(folder)

    def test_one_of_another_mode(self, tmp_path):
        folder = images(tmp_path, GREY)
        Image.fromarray(COLOUR[0]).save(folder / "017.png")
        with pytest.raises(DataError, match=r"'017.png' is 5 × 6 RGB"):
            Pool(folder)

    def test_a_mode_that_is_neither_grey_nor_rgb(self, tmp_path):
        Image.fromarray(COLOUR[0]).convert("RGBA").save(tmp_path / "a.png")
        with pytest.raises(DataError, match=r"'a.png' is RGBA.*convert\('RGB'\)"):
            Pool(tmp_path)

    def test_unreadable_ones_are_listed(self, tmp_path):
        folder = images(tmp_path, GREY)
        for name in ("003.png", "more/033.png"):
            (folder / name).write_bytes(b"not a picture")
        with pytest.raises(DataError, match=r"2 are not: 003\.png, more/033\.png\."):
            Pool(folder)

    def test_a_broken_end_is_found_when_it_is_needed(self, tmp_path):
        pixels = np.random.default_rng(0).integers(256, size=(2, 64, 64), dtype=np.uint8)
        for name, image in zip(("a.png", "b.png"), pixels, strict=True):
            Image.fromarray(image).save(tmp_path / name)
        (tmp_path / "b.png").write_bytes((tmp_path / "b.png").read_bytes()[:2000])
        pool = Pool(tmp_path)
        np.testing.assert_array_equal(pool.take(np.array([0])), pixels[:1])
        with pytest.raises(DataError, match=r"1 are not: b\.png"):
            pool.take(np.array([0, 1]))
