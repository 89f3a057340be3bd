"""Every format gives back what went in, and nothing half-written is ever seen."""

from __future__ import annotations

import errno
import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.errors import ConfigurationError, DataError, LabelError, UnknownMethodError
from labelsieve.exports import COLUMNS, FORMATS, format_for, write_export
from tests.unit.exports.rows import CLASSES, HUMAN, MACHINE, ODD_TEXTS, READERS, ROWS, chunk, failing, full


@pytest.fixture(params=FORMATS)
def any_format(request):
    return request.param


@pytest.fixture(params=READERS)
def tabular(request):
    return request.param


def export(path, format, chunks, classes=CLASSES, kind="text", **more):
    return write_export(chunks, path, format, classes=classes, kind=kind, **more)


class TestRoundTrip:
    def test_rows_come_back_as_they_were(self, tmp_path, tabular):
        assert export(tmp_path / "out", tabular, [chunk(ROWS[:2]), chunk(ROWS[2:])]) == 3
        assert READERS[tabular](tmp_path / "out") == full(ROWS)

    @settings(max_examples=60, deadline=None)
    @given(texts=st.lists(st.tuples(ODD_TEXTS, ODD_TEXTS), min_size=1, max_size=4), sizes=st.integers(1, 3))
    @pytest.mark.parametrize("name", READERS)
    def test_odd_texts(self, name, texts, sizes):
        rows = [MACHINE | {"id": id_, "content": content} for id_, content in texts]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "out"
            export(path, name, [chunk(rows[start : start + sizes]) for start in range(0, len(rows), sizes)])
            expected = full(rows)
            if name == "csv":
                expected = [{key: value if value != "" else None for key, value in row.items()} for row in expected]
            assert READERS[name](path) == expected

    @settings(max_examples=60, deadline=None)
    @given(st.floats(allow_nan=False, allow_infinity=False))
    @pytest.mark.parametrize("name", READERS)
    def test_all_digits(self, name, confidence):
        with tempfile.TemporaryDirectory() as folder:
            export(Path(folder) / "out", name, [chunk([MACHINE | {"confidence": confidence}])])
            assert READERS[name](Path(folder) / "out")[0]["confidence"] == confidence

    def test_csv_tells_an_empty_text_from_none(self, tmp_path):
        export(tmp_path / "out", "csv", [chunk([HUMAN | {"content": ""}, HUMAN])])
        lines = (tmp_path / "out").read_text().splitlines()
        assert lines[1:] == ['"007","cat","human","ana",1,,,,""', '"007","cat","human","ana",1,,,,']

    @pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
    def test_every_way_to_be_missing(self, tmp_path, tabular, missing):
        table = chunk(ROWS).astype(object)
        table.loc[1, ["annotator", "round", "confidence"]] = missing
        table.loc[0, "threshold"] = np.inf  # no threshold
        export(tmp_path / "out", tabular, [table])
        back = READERS[tabular](tmp_path / "out")
        assert [back[1][name] for name in ("annotator", "round", "confidence")] == [None] * 3
        assert (back[0]["threshold"], back[0]["round"]) == (None, 1)

    def test_integers_as_ids_and_classes(self, tmp_path, tabular):
        rows = [HUMAN | {"id": 2**60 + 1, "label": 3}, HUMAN | {"id": -1, "label": 0}]
        export(tmp_path / "out", tabular, [chunk(rows)], classes=[0, 3])
        back = READERS[tabular](tmp_path / "out")
        as_written = int if tabular in ("jsonl", "parquet") else str  # codes of names; cells of CSV
        assert [row["label"] for row in back] == [as_written(3), as_written(0)]
        assert [str(row["id"]) for row in back] == [str(2**60 + 1), "-1"]

    def test_nullable_categorical_and_arrow_columns(self, tmp_path, tabular):
        table = chunk(ROWS)
        table["label"] = table["label"].astype("category")
        table["round"] = table["round"].astype("Int32")
        table["confidence"] = table["confidence"].astype("Float32")
        export(tmp_path / "out", tabular, [table])
        back = READERS[tabular](tmp_path / "out")
        assert [row["label"] for row in back] == ["cat", "dog", None]
        assert [row["round"] for row in back] == [1, 2, None]
        assert back[1]["confidence"] == float(np.float32(0.1 + 0.2))

    def test_content_only_where_asked_for(self, tmp_path, tabular):
        export(tmp_path / "out", tabular, [chunk(ROWS, content=False)])
        assert list(READERS[tabular](tmp_path / "out")[0]) == list(COLUMNS)

    def test_nothing_to_export(self, tmp_path, tabular):
        assert export(tmp_path / "out", tabular, []) == 0
        assert READERS[tabular](tmp_path / "out") == []

    def test_names_that_are_not_utf8_are_spelled_out(self, tmp_path, tabular):
        table = chunk([HUMAN]).assign(id=pd.Series(["a\udcff.png"], dtype=object))
        export(tmp_path / "out", tabular, [table])
        assert READERS[tabular](tmp_path / "out")[0]["id"] == "a\\udcff.png"

    def test_rows_of_tables_are_json(self, tmp_path, tabular):
        export(tmp_path / "out", tabular, [chunk([HUMAN | {"content": {"größe": 1}}])], kind="table")
        assert READERS[tabular](tmp_path / "out")[0]["content"] == '{"größe": 1}'

    def test_small_chunks_make_no_small_blocks(self, tmp_path):
        export(tmp_path / "out", "parquet", (chunk(ROWS) for _ in range(50)))
        assert pq.ParquetFile(tmp_path / "out").num_row_groups == 1


class TestWholeOrNotThere:
    @pytest.mark.parametrize("error", [RuntimeError("the database went away"), KeyboardInterrupt()])
    @pytest.mark.parametrize("before", [False, True])
    def test_chunks_that_fail(self, tmp_path, any_format, before, error):
        if before:
            export(tmp_path / "out", any_format, [chunk(ROWS[:1])])
        seen = snapshot(tmp_path)
        with pytest.raises(type(error)):
            export(tmp_path / "out", any_format, failing(ROWS, error))
        assert snapshot(tmp_path) == seen

    def test_replaces_what_was_there(self, tmp_path, tabular):
        export(tmp_path / "out", tabular, [chunk(ROWS)])
        export(tmp_path / "out", tabular, [chunk(ROWS[:1])])
        assert len(READERS[tabular](tmp_path / "out")) == 1
        assert os.listdir(tmp_path) == ["out"]

    def test_no_space_left(self, tmp_path, any_format):
        """A limit on the size of files, which makes writes fail as a full disk does."""
        export(tmp_path / "out", any_format, [chunk(ROWS[:1])])
        seen = snapshot(tmp_path)
        noise = np.random.default_rng(0).bytes(300_000).hex()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(OSError, match=r"File too large: '.*/out'") as caught:
                export(tmp_path / "out", any_format, [chunk(ROWS), chunk([HUMAN | {"content": noise}])])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert caught.value.errno == errno.EFBIG
        assert snapshot(tmp_path) == seen

    def test_folder_that_may_not_be_written(self, any_format):
        with tempfile.TemporaryDirectory() as folder, read_only(folder):
            with pytest.raises(PermissionError, match="out"):
                export(Path(folder) / "out", any_format, [chunk(ROWS)])
            assert os.listdir(folder) == []

    def test_folder_that_is_not_there(self, tmp_path, any_format):
        with pytest.raises(ConfigurationError, match="nowhere is none"):
            export(tmp_path / "nowhere" / "out", any_format, [chunk(ROWS)])

    def test_a_folder_of_other_things_is_not_replaced(self, tmp_path, any_format):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "thesis.txt").write_text("years of work")
        with pytest.raises(ConfigurationError, match="out is"):
            export(tmp_path / "out", any_format, [chunk(ROWS)])
        assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"

    def test_links_are_followed(self, tmp_path):
        (tmp_path / "real.csv").write_text("old")
        (tmp_path / "link.csv").symlink_to("real.csv")
        export(tmp_path / "link.csv", "csv", [chunk(ROWS)])
        assert (tmp_path / "link.csv").is_symlink()
        assert (tmp_path / "real.csv").read_text().startswith('"id"')

    def test_one_chunk_at_a_time(self, tmp_path, any_format):
        """No chunk is asked for before the one before it has been counted."""
        asked: list[int] = []
        counted: list[int] = []

        def chunks():
            for number in range(5):
                assert len(counted) >= number - 1
                asked.append(number)
                yield chunk([HUMAN | {"id": str(number)}])

        export(tmp_path / "out", any_format, chunks(), progress=counted.append)
        assert (asked, counted) == ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])


class TestRefuses:
    def test_unknown_format(self, tmp_path):
        with pytest.raises(UnknownMethodError, match=r"'csv', 'jsonl', .*got 'xlsx'"):
            export(tmp_path / "out", "xlsx", [chunk(ROWS)])

    def test_unknown_kind(self, tmp_path):
        with pytest.raises(ConfigurationError, match=r"'text', 'image'.*got 'video'"):
            export(tmp_path / "out", "csv", [chunk(ROWS)], kind="video")

    @pytest.mark.parametrize(
        ("change", "error", "message"),
        [
            ({"label": "eel"}, LabelError, "2 classes .'cat', 'dog'.; got 'eel'"),
            ({"id": None}, DataError, "1 have none"),
            ({"id": 7}, DataError, "id of this export must hold texts throughout; got int64"),
            ({"round": 1.5}, DataError, "round .* int64"),
            ({"round": "1"}, DataError, "round of this export must hold numbers"),
            ({"confidence": "high"}, DataError, "confidence of this export must hold numbers"),
        ],
    )
    def test_values_that_do_not_fit(self, tmp_path, any_format, change, error, message):
        with pytest.raises(error, match=message):
            export(tmp_path / "out", any_format, [chunk(ROWS), chunk([ROWS[0] | change])])
        assert os.listdir(tmp_path) == []

    def test_ids_of_two_kinds_in_one_chunk(self, tmp_path):
        with pytest.raises(DataError, match="id of an export must hold values of one kind"):
            export(tmp_path / "out", "csv", [chunk([HUMAN, HUMAN | {"id": 7}])])

    def test_other_columns(self, tmp_path):
        with pytest.raises(DataError, match=r"must have the columns id, label, .*one has id, label"):
            export(tmp_path / "out", "csv", [chunk(ROWS).drop(columns="model")])

    @pytest.mark.parametrize("classes", [["1", 1], ["a", 1], ["a", "a"]])
    def test_classes_of_two_kinds_or_twice(self, tmp_path, classes):
        with pytest.raises(ConfigurationError, match=r"classes .*must be"):
            export(tmp_path / "out", "csv", [chunk(ROWS)], classes=classes)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def read_only(folder: str) -> Iterator[None]:
    """Root may write anywhere, so it becomes somebody else meanwhile."""
    os.chmod(folder, 0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        os.chmod(folder, 0o700)


class TestFormatByName:
    @pytest.mark.parametrize(
        ("name", "format"),
        [
            ("labels.csv", "csv"),
            ("labels.JSONL", "jsonl"),
            ("labels.ndjson", "jsonl"),
            ("labels.v2.parquet", "parquet"),
            ("labels.pq", "parquet"),
            ("tasks.json", "label-studio"),
        ],
    )
    def test_the_suffix_tells(self, name, format):
        assert format_for(Path(name), None) == format
        assert format_for(Path(name), format) == format

    @pytest.mark.parametrize("name", ["labels", "labels.txt", "labels.v2", "csv"])
    def test_a_name_that_says_nothing_needs_a_format(self, name, any_format):
        with pytest.raises(ConfigurationError, match="--format, one of csv, jsonl"):
            format_for(Path(name), None)
        assert format_for(Path(name), any_format) == any_format

    def test_a_name_that_says_something_else_is_refused(self):
        with pytest.raises(ConfigurationError, match=r"x\.parquet reads like parquet, and the format is csv"):
            format_for(Path("x.parquet"), "csv")
