"""What is found out about the data before anything is written, and the items that come of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from labelsieve.data.readers import Reader, items, open_data, understand
from labelsieve.errors import ConfigurationError, DataError


def csv_of(folder: Path, content: str) -> Reader:
    (folder / "data.csv").write_text(content, encoding="utf-8")
    return open_data(folder / "data.csv")


def test_kinds_of_columns_are_guessed(tmp_path: Path) -> None:
    lines = ["number,code,kind,text,picture,nothing,tiny"]
    lines += [f"{i / 7},00{i},{'ab'[i % 2]},text {i},img/{i}.JPG,,{-i}e-3" for i in range(2500)]
    seen = understand(csv_of(tmp_path, "\n".join(lines)))
    assert seen.rows == 2500
    assert {column.name: column.kind for column in seen.columns} == {
        "number": "number",
        "code": "text",
        "kind": "category",
        "text": "text",
        "picture": "image path",
        "nothing": "empty",
        "tiny": "number",
    }
    assert [column.distinct for column in seen.columns][1:3] == [None, 2]
    assert seen.columns[5].empty == 2500
    assert "kind (category, 2 values)" in seen.in_words()[1]


def test_typed_columns_are_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": true, "b": 1, "c": "x"}\n{"a": false, "b": 2.5}\n')
    kinds = {column.name: (column.kind, column.empty) for column in understand(open_data(tmp_path / "a.jsonl")).columns}
    assert kinds == {"a": ("category", 0), "b": ("number", 0), "c": ("text", 1)}


def test_texts_are_counted(tmp_path: Path) -> None:
    lines = ["name,text", *(f"n{i},{text}" for i, text in enumerate(["x", "y", "x", "", "  ", "x", *[""] * 5, "z"]))]
    seen = understand(csv_of(tmp_path, "\n".join(lines)), text="text", id="name")
    assert (seen.repeated_texts, seen.empty_texts) == (2, 7)
    assert seen.empty_text_ids == ("n3", "n4", "n6", "n7", "n8")
    assert seen.preview == tuple({"name": f"n{i}", "text": text} for i, text in enumerate("xyx"))
    assert seen.bad_images is None
    words = seen.in_words()
    assert "ids: column name" in words
    assert "row 2: name=n1; text=y" in words
    assert "texts that repeat an earlier one: 2" in words
    assert "empty texts: 7 (ids n3, n4, n6, n7, n8 and 2 more)" in words


def test_texts_are_not_looked_at_unless_asked(tmp_path: Path) -> None:
    seen = understand(csv_of(tmp_path, "text\nx\nx\n"))
    assert seen.repeated_texts is None
    assert seen.empty_texts is None
    assert len(seen.in_words()) == 5


def test_repeats_are_found_across_chunks(tmp_path: Path) -> None:
    lines = ["name,text", *(f"{i},{i % 15_000}" for i in range(25_000))]
    reader = csv_of(tmp_path, "\n".join(lines))
    assert understand(reader, text="text").repeated_texts == 10_000
    with pytest.raises(DataError, match=r"lines 2 and 15002 .* same id '0' in column 'text'"):
        understand(reader, id="text")
    assert understand(reader, id="name").id_column == "name"


def test_repeated_ids_name_the_lines_in_the_file(tmp_path: Path) -> None:
    reader = csv_of(tmp_path, 'id,text\na,"two\nlines"\nb,x\n\nc,y\nb,z\na,z\n')
    with pytest.raises(DataError, match=r"lines 4 and 7 .*'b'"):
        understand(reader, id="id")


def test_an_empty_id_names_its_line(tmp_path: Path) -> None:
    reader = csv_of(tmp_path, 'id,text\na,"two\nlines"\n  ,x\n')
    for use in (understand, lambda reader, id: list(items(reader, id=id))):
        with pytest.raises(DataError, match=r"line 4 of .* is empty"):
            use(reader, id="id")


def test_what_is_shown_is_short_and_inert(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202e" + "long " * 300_000 + "👩‍👩‍👧"
    seen = understand(csv_of(tmp_path, f'text,"bad\x1b[0m"\n{hostile},2\n👩‍👩‍👧 سلام‌ها,3\n'), text="text")
    for line in seen.in_words():
        assert len(line) < 300
        assert not set(line) & set("\x1b\u202e\n")
    assert "👩‍👩‍👧 سلام‌ها" in seen.in_words()[4]


def test_bad_images_are_all_named_with_the_reason(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    noise = np.random.default_rng(0).integers(256, size=(64, 64, 3), dtype=np.uint8)
    for name in ("good.png", "cut.png", "cut.jpg"):
        Image.fromarray(noise).save(pictures / name)
    for name in ("cut.png", "cut.jpg"):
        content = (pictures / name).read_bytes()
        (pictures / name).write_bytes(content[: len(content) // 2])
    (pictures / "text.png").write_text("no image")
    Image.fromarray(noise).save(tmp_path / "outside.png")
    (pictures / "link.png").symlink_to(tmp_path / "outside.png")
    good = ["good.png", "./good.png", str(pictures / "good.png")]
    bad = ["cut.png", "cut.jpg", "text.png", "link.png", "../outside.png", "/etc/passwd", "", "gone.png"]
    gone = [f"gone{i}.png" for i in range(30)]
    reader = csv_of(tmp_path, "file,n\n" + "".join(f"{name},1\n" for name in [*good, *bad, *gone]))
    seen = understand(reader, image="file", image_root=pictures)
    assert seen.bad_images is not None
    assert [image.name for image in seen.bad_images] == [*bad, *gone]
    reasons = [image.reason for image in seen.bad_images]
    out = "leads out of the folder of the images"
    assert reasons[:8] == ["not a readable image"] * 3 + [out] * 3 + ["no path given", "missing"]
    words = seen.in_words()
    assert "images that cannot be read: 38" in words
    assert words[-1] == "  and 18 more"
    assert "  cut.png: not a readable image" in words


def test_a_folder_of_images_needs_no_column_names(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((5, 5), dtype=np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_text("no image")
    seen = understand(open_data(tmp_path))
    assert (seen.id_column, seen.rows) == ("path", 2)
    assert seen.bad_images is not None
    assert seen.bad_images[0].name == "b.png"


def test_image_items_are_paths_from_the_root(tmp_path: Path) -> None:
    reader = csv_of(tmp_path, f"file\na.png\n./b/../c.png\n{tmp_path}/d.png\n")
    assert list(items(reader, image="file")) == [(["0", "1", "2"], ["a.png", "c.png", "d.png"])]
    for bad in ("../x.png", "/x.png", "a/../../x.png", '""', "."):
        with pytest.raises(DataError, match="line 3 of"):
            list(items(csv_of(tmp_path, f"file\na.png\n{bad}\n"), image="file"))
    with pytest.raises(DataError, match="image root must be a folder"):
        items(reader, image="file", image_root=tmp_path / "gone")


def test_table_items_are_compact_json_of_the_chosen_columns(tmp_path: Path) -> None:
    reader = csv_of(tmp_path, 'id,a,b,label\nx,007,"é ""q""",1\ny,,2,0\n')
    ((ids, contents),) = items(reader, id="id")
    assert ids == ["x", "y"]
    assert contents[0] == '{"a":"007","b":"é \\"q\\"","label":"1"}'
    ((_, contents),) = items(reader, id="id", columns=["b", "a", "b"])
    assert list(map(json.loads, contents)) == [{"b": 'é "q"', "a": "007"}, {"b": "2", "a": ""}]


def test_what_makes_an_item_must_be_clear(tmp_path: Path) -> None:
    reader = csv_of(tmp_path, "id,text\n1,x\n")
    with pytest.raises(ConfigurationError, match="got text and columns"):
        items(reader, text="text", columns=["id"])
    with pytest.raises(DataError, match="a column besides the id"):
        items(csv_of(tmp_path, "id\n1\n"), id="id")
    for use in (items, understand):
        with pytest.raises(DataError, match="Did you mean 'text'"):
            use(reader, text="txt")
        with pytest.raises(DataError, match="'id', 'text'"):
            use(reader, id="number")
