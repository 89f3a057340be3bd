"""JSON lines: types stay, gaps are empty, and what is broken is named by its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve.data.readers import items, open_data
from labelsieve.errors import DataError


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "data.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows(path: Path, size: int = 10_000) -> list[dict[str, Any]]:
    return [row for chunk in open_data(path).chunks(size=size) for row in chunk.to_dict("records")]


def test_types_stay_and_nested_values_become_compact_json(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": 1, "b": 1.5, "c": true, "d": null, "e": "007", "f": {"x": [1, "é"]}, "g": []}\n')
    (row,) = rows(path)
    assert row == {"a": 1, "b": 1.5, "c": True, "d": None, "e": "007", "f": '{"x":[1,"é"]}', "g": "[]"}
    assert [type(row[name]) for name in "abc"] == [int, float, bool]


def test_keys_that_are_missing_in_some_rows_are_empty_there(tmp_path: Path) -> None:
    path = written(tmp_path, '{"b": 1}\n\n{"a": "x", "b": 2}\r\n{}\n{"c": 12345678901234567890}')
    assert open_data(path).columns == ["b", "a", "c"]
    assert rows(path, size=3) == [
        {"b": 1, "a": None, "c": None},
        {"b": 2, "a": "x", "c": None},
        {"b": None, "a": None, "c": None},
        {"b": None, "a": None, "c": 12345678901234567890},
    ]
    (chunk,) = open_data(path).chunks(["a"])
    assert chunk.index.tolist() == [1, 3, 4, 5]
    ((ids, texts),) = items(open_data(path), text="a")
    assert (ids, texts) == (["0", "1", "2", "3"], ["", "x", "", ""])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    table=st.lists(
        st.fixed_dictionaries(
            {"text": st.text(st.characters(codec="utf-8"), max_size=30)},
            optional={"ключ": st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)},
        ),
        min_size=1,
        max_size=8,
    ),
    ascii_only=st.booleans(),
    size=st.integers(1, 5),
)
def test_any_text_comes_back(tmp_path: Path, table: list[dict[str, Any]], ascii_only: bool, size: int) -> None:
    path = tmp_path / "any.jsonl"
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for row in table:
            file.write(json.dumps(row, ensure_ascii=ascii_only) + "\n")
    back = [{key: value for key, value in row.items() if value is not None} for row in rows(path, size)]
    assert back == table
    assert [text for _, texts in items(open_data(path), text="text") for text in texts] == [r["text"] for r in table]


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ('{"a": 1}\n{"a": 2\n', 2, "one whole JSON object"),
        ('{"a": 1}\n\n{"a": 2} {"a": 3}\n', 3, "Extra data"),
        ('{"a": 1}\n[1, 2]\n', 2, "it is a list"),
        ('{"a": 1}\n"x"\n', 2, "it is a text"),
        ('{"a": 1}\n3\n', 2, "it is a number"),
        ('{"a": 1}\nnull\n', 2, "it is null"),
        ('[\n{"a": 1}\n]\n', 1, "jq -c"),
        ('{"a": 1}\n{"a": "cut \\ud83d"}\n', 2, "d83d"),
        ('{"a": 1}\n{"a": ' + "[" * 100_000 + "\n", 2, "one whole JSON object"),
        ('{"a": 1}\n{"a": ' + "9" * 5000 + "}\n", 2, "one whole JSON object"),
        (b'{"a": 1}\n{"a": "\xe9"}\n', 2, "iconv"),
        (b'{"a": 1}\n{"a": "\x00"}\n', 2, "NUL"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, content: str | bytes, line: int, words: str) -> None:
    with pytest.raises(DataError) as caught:
        open_data(written(tmp_path, content))
    assert f"Line {line} of" in str(caught.value)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 600


def test_whole_pairs_of_escapes_are_letters(tmp_path: Path) -> None:
    assert rows(written(tmp_path, '{"a": "\\ud83d\\udc4d"}\n')) == [{"a": "👍"}]


@pytest.mark.parametrize(
    ("content", "words"), [("", "empty"), ("\n \n", "only blank"), ("{}\n{}\n", "all 2 are empty")]
)
def test_files_without_rows(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        open_data(written(tmp_path, content))


def test_numbers_that_are_none_are_null_in_a_content_and_infinite_ones_are_refused(tmp_path: Path) -> None:
    ((_, contents),) = items(open_data(written(tmp_path, '{"a": NaN, "b": 1}\n')))
    assert contents == ['{"a":null,"b":1}']
    with pytest.raises(DataError, match="line 2 of"):
        list(items(open_data(written(tmp_path, '{"a": 1}\n{"a": -Infinity}\n'))))
    assert rows(written(tmp_path, '{"a": [NaN, Infinity]}\n')) == [{"a": '[null,"inf"]'}]
