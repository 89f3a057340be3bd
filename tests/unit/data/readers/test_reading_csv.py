"""CSV and TSV: cells stay what they are, and what is malformed is named by its line."""

from __future__ import annotations

import codecs
import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelsieve.data.readers import items, open_data
from labelsieve.data.readers.csv import LONGEST_FIELD
from labelsieve.errors import ConfigurationError, DataError


def written(folder: Path, content: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows(path: Path, encoding: str | None = None, size: int = 10_000) -> list[tuple[str, ...]]:
    chunks = open_data(path, encoding=encoding).chunks(size=size)
    return [row for chunk in chunks for row in chunk.itertuples(index=False, name=None)]


def refusal(path: Path, encoding: str | None = None) -> str:
    with pytest.raises(DataError) as caught:
        rows(path, encoding)
    return str(caught.value)


def test_cells_stay_the_texts_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "id,text\n007,NA\n1.0,\n, true \nnull,NaN\n")
    assert rows(path) == [("007", "NA"), ("1.0", ""), ("", " true "), ("null", "NaN")]
    assert {type(cell) for row in rows(path) for cell in row} == {str}


def test_chunks_have_the_asked_columns_and_say_where_rows_start(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b,c\n1,"x\ny",3\n\n4,5,6\n7,8,9\n')
    first, second = open_data(path).chunks(["c", "b"], size=2)
    assert list(first.columns) == ["c", "b"]
    assert first["b"].tolist() == ["x\ny", "5"]
    assert (first.index.name, first.index.tolist(), second.index.tolist()) == ("line", [2, 5], [6])


letters = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
odd = st.sampled_from(
    ["", "NA", "007", 'say "hi"', "a\r\nb", "\r", "\n", "👩‍👩‍👧", "שלום, עולם", "مرحبا", "\u2028", ";", "\t", "'"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    table=st.lists(st.tuples(letters | odd, letters | odd), min_size=1, max_size=8),
    delimiter=st.sampled_from([",", ";", "\t"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    ends=st.sampled_from(["\n", "\r\n"]),
    size=st.integers(1, 5),
)
def test_any_text_comes_back(
    tmp_path: Path, table: list[tuple[str, str]], delimiter: str, encoding: str, ends: str, size: int
) -> None:
    path = tmp_path / "any.csv"
    with open(path, "w", encoding=encoding, newline="") as file:
        # Python's writer leaves a carriage return without quotes unless lines end with one: then it ends the line.
        bare_return = ends == "\n" and any("\r" in cell for row in table for cell in row)
        quoting = csv.QUOTE_ALL if bare_return else csv.QUOTE_MINIMAL
        writer = csv.writer(file, delimiter=delimiter, lineterminator=ends, quoting=quoting)
        writer.writerow(["first", "second"])
        writer.writerows(table)
    assert rows(path, size=size) == table
    contents = [text for _, texts in items(open_data(path), text="second", size=size) for text in texts]
    assert contents == [second for _, second in table]


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("a.csv", "a,b;c\n1,2\n", ["a", "b;c"]),
        ("a.csv", "a;b\n1;2,5\n", ["a", "b"]),
        ("a.csv", '"a,b";c\n1;2\n', ["a,b", "c"]),
        ("a.csv", "a\tb\n1\t2,5\n", ["a", "b"]),
        ("a.txt", "a\tb\n1\t2\n", ["a", "b"]),
        ("a.TSV", "a,b\tc\n1\t2\n", ["a,b", "c"]),
        ("a.tsv", "a,b\n1\n", ["a,b"]),
        ("a.csv", "\n\ntext\nhello\n", ["text"]),
        ("a.csv", '"two\nlines";b\n1;2\n', ["two\nlines", "b"]),
    ],
)
def test_delimiter_is_found_in_the_header(tmp_path: Path, name: str, content: str, columns: list[str]) -> None:
    assert open_data(written(tmp_path, content, name)).columns == columns


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        ("a,b\n1,2\n3,4,5\n", 3, ["2 fields", "(a, b)", "3 fields", "'3'", "comma", "quotes"]),
        ("a,b\n1,2\n3\n", 3, ["2 fields", "1 field,", "comma"]),
        ('a,b\n"x\ny\n",2\n\n3\n', 6, ["2 fields", "1 field,"]),
        ("a;b\n1;2;3\n", 2, ["semicolon"]),
        ('a,b\n1,2\n3,"open\n5,6\n', 3, ["quote", "end of the file (line 4)"]),
        ('a,b\n1,2\n3,"so" what\n', 3, ["closing quote", "doubled"]),
        ('a,b\n1,"open\n3,4\n5,"z"\n', 2, ["closing quote", "in line 4"]),
    ],
)
def test_malformed_rows_are_named_by_line(tmp_path: Path, content: str, line: int, words: list[str]) -> None:
    message = refusal(written(tmp_path, content))
    assert f"ine {line} of " in message
    for word in words:
        assert word in message


def test_a_fault_far_down_is_found_after_good_chunks(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n" + "1,2\n" * 25_000 + "1,2,3\n")
    chunks = open_data(path).chunks()
    assert [len(next(chunks)), len(next(chunks))] == [10_000, 10_000]
    with pytest.raises(DataError, match="Line 25002 of"):
        next(chunks)


def test_long_fields_are_read_and_an_endless_one_is_refused(tmp_path: Path) -> None:
    long = "ä" * 2**20
    assert rows(written(tmp_path, f'a,b\n1,{long}\n2,"{long}\n"\n')) == [("1", long), ("2", long + "\n")]
    path = written(tmp_path, 'a,b\n1,2\n3,"' + "word \n" * (LONGEST_FIELD // 5))
    assert "line 3 of" in refusal(path)
    assert "never closed" in refusal(path)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF8, b""])
def test_utf8_with_and_without_mark(tmp_path: Path, mark: bytes) -> None:
    path = written(tmp_path, mark + "ä,b\né,👍\n".encode())
    for encoding in (None, "utf-8"):
        assert open_data(path, encoding=encoding).columns == ["ä", "b"]
        assert rows(path, encoding) == [("é", "👍")]


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF16_LE + "ä,b\né,👍\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "ä,b\né,👍\n".encode("utf-16-be"),
    ],
)
def test_utf16_with_mark(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, content)
    assert open_data(path).columns == ["ä", "b"]
    assert rows(path) == [("é", "👍")]


def test_encoding_can_be_named(tmp_path: Path) -> None:
    assert rows(written(tmp_path, "a,b\ncafé,2\n".encode("cp1252")), "cp1252") == [("café", "2")]
    assert rows(written(tmp_path, "\ufeffa,b\ncafé,2\n".encode("utf-16-le")), "utf-16-le") == [("café", "2")]
    assert "'klingon'" in refusal(written(tmp_path, "a\n1\n"), "klingon")
    assert "gb18030" in refusal(written(tmp_path, "a\n1\n"), "base64")


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("good_lines", [0, 1, 3, 30_000])
def test_what_is_not_utf8_is_refused_with_line_and_byte(tmp_path: Path, ends: str, good_lines: int) -> None:
    good = ("a,b" + ends + f"1,2{ends}" * good_lines).encode()
    path = written(tmp_path, good + f"caf\xe9,1{ends}3,4{ends}".encode("latin-1"))
    message = refusal(path)
    assert f"Line {good_lines + 2} of" in message
    assert f"0xE9 (byte {len(good) + 4:,} of the file)" in message
    assert "--encoding cp1252" in message
    assert "iconv -f WINDOWS-1252 -t UTF-8" in message


def test_line_of_a_bad_byte_that_begins_or_ends_the_file(tmp_path: Path) -> None:
    assert "Line 1 of" in refusal(written(tmp_path, b"\xe9a,b\n1,2\n"))
    assert "Line 2 of" in refusal(written(tmp_path, b"a,b\r\xe9,2\r"))
    assert "Line 3 of" in refusal(written(tmp_path, b"a,b\r\n1,2\r\n3,\xe9"))
    odd_utf16 = codecs.BOM_UTF16_BE + "a,b\n1,2\n".encode("utf-16-be") + b"\xd8\x00\x00\x41"
    assert "Line 3 of" in refusal(written(tmp_path, odd_utf16))


@pytest.mark.parametrize("good_line_first", [True, False])
def test_mixed_encodings_are_called_that(tmp_path: Path, good_line_first: bool) -> None:
    lines = ["München,1\n".encode(), "Zürich,2\n".encode("latin-1")]
    message = refusal(written(tmp_path, b"a,b\n" + b"".join(lines if good_line_first else reversed(lines))))
    assert f"Line {3 if good_line_first else 2} of" in message
    assert "0xFC" in message
    assert "mix encodings" in message
    assert "iconv" not in message


def test_a_mark_or_a_line_that_is_utf8_by_chance_makes_no_mix(tmp_path: Path) -> None:
    assert "iconv" in refusal(written(tmp_path, codecs.BOM_UTF8 + b"a,b\ncaf\xe9,1\n"))
    chinese = "a,b\n" + "你好,1\n" * 50 + "模通,1\n"
    assert "模通".encode("gbk").decode("utf-8", errors="replace").count("\ufffd") == 0
    assert "iconv" in refusal(written(tmp_path, chinese.encode("gbk")))


def test_nul_bytes_are_named_by_line(tmp_path: Path) -> None:
    message = refusal(written(tmp_path, b"a,b\n1,2\n3,\x00\n"))
    assert "Line 3 of" in message
    assert "NUL" in message
    assert "utf-16-le" in refusal(written(tmp_path, "a,b\n1,2\n".encode("utf-16-le")))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "empty (0 bytes)"),
        ("\n\r\n\n", "only blank lines"),
        ("a,b\n", "only the header a, b"),
        ("a,b", "only the header"),
        ("a,b,a\n1,2,3\n", "'a' comes more than once"),
        (codecs.BOM_UTF8, "blank|header"),
    ],
)
def test_files_without_rows_or_with_repeated_columns(tmp_path: Path, content: str | bytes, words: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DataError, match=words.replace("(", r"\(").replace(")", r"\)")):
        open_data(path)


def test_a_missing_column_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    reader = open_data(written(tmp_path, "id,Text,label\n1,2,3\n"))
    with pytest.raises(DataError, match=r"'txet'.*'id', 'Text', 'label'"):
        reader.chunks(["txet"])
    for wrong in ("text", "Texts", "TEXT"):
        with pytest.raises(DataError, match="Did you mean 'Text'"):
            items(reader, text=wrong)


def test_a_chunk_without_rows_is_no_chunk(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="size=0"):
        open_data(written(tmp_path, "a\n1\n")).chunks(size=0)


def test_a_header_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    reader = open_data(written(tmp_path, "a,b\n1,2\n"))
    written(tmp_path, "b,a\n1,2\n")
    with pytest.raises(DataError, match="must not change"):
        next(reader.chunks())
