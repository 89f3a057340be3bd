from __future__ import annotations

import csv
import io
import os
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.annotators.answer_files import AnswerFile, Problem, read_answers, write_questions
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Answer

CLASSES = ["cat", "dog", "sea lion"]
IDS = ["007", "b", "c"]

ODD_TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=st.sampled_from(list(" ,;\t\r\n\"'=+-@<>&\x00\u2028\u202e\ufeffשע🙂")), max_size=8),
    st.sampled_from(["00", "1e5", "NA", "", "<script>alert(1)</script>"]),
)


@pytest.fixture
def answered(tmp_path):
    """What is read from a file with that content."""

    def read(content: str | bytes, classes=CLASSES, ids=IDS, **more) -> AnswerFile:
        path = tmp_path / "answers.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_answers(path, classes, ids, "ana", **more)

    return read


def problems_of(answered, content, **more) -> list[str]:
    with pytest.raises(DataError) as caught:
        answered(content, **more)
    head, *lines = str(caught.value).splitlines()
    assert "nothing was taken from it" in head
    assert f"{len(lines)} problem" in head
    return [line.strip() for line in lines]


def fill_in(path: Path, labels: list[str], delimiter: str = ",", encoding: str = "utf-8-sig") -> None:
    """As a person with a spreadsheet does: every cell is read, and all are written again."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows([*row[:2], label, *row[3:]] for row, label in zip(rows, labels, strict=True))


class TestRoundTrip:
    def test_what_is_written(self, tmp_path):
        questions = pd.DataFrame({"id": ["007", "b"], "content": ['say "a", b', None]})
        write_questions(tmp_path / "ask.csv", questions, CLASSES)
        assert (tmp_path / "ask.csv").read_bytes() == (
            b'\xef\xbb\xbfid,content,label\r\n007,"say ""a"", b",\r\nb,,\r\n'
        )
        assert os.listdir(tmp_path) == ["ask.csv"]

    def test_a_column_for_the_annotator(self, tmp_path):
        path = tmp_path / "ask.csv"
        write_questions(path, pd.DataFrame({"id": IDS, "content": "x"}), CLASSES, annotator="bob")
        assert read_answers(path, CLASSES, IDS, "ana") == AnswerFile((), blank=3)
        fill_in(path, ["cat", "", "dog"])
        assert read_answers(path, CLASSES, IDS, "ana").answers == (
            Answer("007", "cat", "bob"),
            Answer("c", "dog", "bob"),
        )

    @settings(max_examples=150, deadline=None)
    @given(
        questions=st.lists(
            st.tuples(ODD_TEXTS, ODD_TEXTS), min_size=1, max_size=4, unique_by=lambda question: question[0]
        ),
        delimiter=st.sampled_from(",;\t"),
        encoding=st.sampled_from(["utf-8", "utf-8-sig"]),
    )
    def test_odd_ids_and_contents(self, questions, delimiter, encoding):
        ids = [id_ for id_, _ in questions]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ask.csv"
            write_questions(path, pd.DataFrame(questions, columns=["id", "content"]), CLASSES)
            fill_in(path, ["dog"] * len(ids), delimiter, encoding)
            assert read_answers(path, CLASSES, ids, "ana").answers == tuple(Answer(id_, "dog", "ana") for id_ in ids)

    def test_long_contents(self, answered):
        assert answered(f"id,content,label\nb,{'a' * 200_000},cat\n").answers == (Answer("b", "cat", "ana"),)

    @pytest.mark.parametrize("content", ["=1+1", "+49", "-a", "@SUM(A1)", "\t=1", "\r=1"])
    def test_no_content_is_a_formula_and_no_id_is_changed(self, tmp_path, content):
        write_questions(tmp_path / "ask.csv", pd.DataFrame({"id": ["=7"], "content": [content]}), CLASSES)
        text = (tmp_path / "ask.csv").read_text(encoding="utf-8-sig")
        (row,) = list(csv.reader(io.StringIO(text, newline="")))[1:]
        assert row[0] == "=7"
        assert row[1].startswith("'")

    def test_integers_as_ids_and_classes(self, answered):
        answers = answered("id,label\n10, 3 \n11,4.0\n", classes=[3, 4], ids=[10, 11]).answers
        assert answers == (Answer(10, 3, "ana"), Answer(11, 4, "ana"))
        assert all(isinstance(answer.id, int) and isinstance(answer.label, int) for answer in answers)


class TestReading:
    def test_blank_labels_are_no_answers(self, answered):
        file = answered("id,content,label\n007,x, \nb,y,\n\n,,\nc,z, dog \n")
        assert file == AnswerFile((Answer("c", "dog", "ana"),), blank=2)

    def test_several_annotators(self, answered):
        file = answered("id,label,annotator\nb,cat,bob\nb,dog, eve \nb,cat,\nb,cat,bob\n")
        assert file.answers == (Answer("b", "cat", "bob"), Answer("b", "dog", "eve"), Answer("b", "cat", "ana"))

    @pytest.mark.parametrize(
        "content", ["ID;Label\r\n007;sea lion\r\n", "\ufeffid\tlabel\n007\tsea lion", "label,id\rsea lion,007\r"]
    )
    def test_as_spreadsheets_write(self, answered, content):
        assert answered(content).answers == (Answer("007", "sea lion", "ana"),)

    def test_lines_are_those_of_the_file(self, answered):
        content = 'id,content,label\n007,"one\ntwo\nthree",cat\nb,x,cow\n'
        assert problems_of(answered, content)[0].startswith("line 5: 'cow'")


class TestProblems:
    def test_all_at_once(self, answered):
        content = "id,label\nb,Dgo\nb,cat\nnobody,cat\n7,dog\nb,dog\nc\nc,zzz,cat\n"
        assert problems_of(answered, content) == [
            "line 2: 'Dgo' is no class (did you mean 'dog'?); the classes are cat, dog, sea lion",
            "line 4: the id 'nobody' was never asked",
            "line 5: the id '7' was never asked; '007' was: a spreadsheet may have dropped its zeros",
            "line 6: ana labels the id 'b' as 'dog', but as 'cat' in line 3",
            "line 7: has 1 cells, where the header has 2",
            "line 8: has 3 cells, where the header has 2",
        ]

    def test_what_has_its_label_already(self, answered):
        content = "id,label\n09,cat\n9,cat\nb,cat\n"
        assert problems_of(answered, content, labelled_ids=["09"]) == [
            "line 2: the id '09' has its label already, its batch is over; take the line out",
            "line 3: the id '9' was never asked; '09' was: a spreadsheet may have dropped its zeros",
        ]

    def test_one_row_with_two(self, answered):
        assert [line[:7] for line in problems_of(answered, "id,label\nnobody,cow\n")] == ["line 2:", "line 2:"]

    def test_what_is_right_may_be_taken(self, answered):
        content = "id,label\n007,cat\nb,cat\nb,dog\nc,cow\nx,dog\nc,dog\n"
        file = answered(content, partial=True)
        assert file.answers == (Answer("007", "cat", "ana"), Answer("c", "dog", "ana"))
        assert [problem.line for problem in file.problems] == [4, 5, 6]
        assert isinstance(file.problems[0], Problem)

    def test_lines_that_are_not_utf8(self, answered):
        content = "id,content,label\n007,fine,cat\nb,grün,dog\nc,x,dog\n".encode("latin-1")
        assert problems_of(answered, content) == ["line 3: is not in UTF-8; save the file as “CSV UTF-8”"]
        assert [answer.id for answer in answered(content, partial=True).answers] == ["007", "c"]

    def test_utf16(self, answered):
        with pytest.raises(DataError, match="it is in UTF-16"):
            answered("id,label\nb,cat\n".encode("utf-16"), partial=True)

    @pytest.mark.parametrize(
        ("line", "found"), [('"b"x,cat', "',' expected after '\"'"), ('c,"cat\nand no end', "unexpected end of data")]
    )
    def test_broken_lines(self, answered, line, found):
        (problem,) = problems_of(answered, f"id,label\n007,dog\n{line}\n")
        assert problem == f"line 3: is no line of a CSV file: {found}; are its quotes closed?"

    def test_goes_on_after_a_broken_line(self, answered):
        assert len(problems_of(answered, 'id,label\n"b"x,cat\nc,cow\n')) == 2

    def test_a_thousand_are_not_all_shown(self, answered):
        with pytest.raises(DataError, match="has 1,000 problems") as caught:
            answered("id,label\n" + "b,cow\n" * 1000)
        assert str(caught.value).splitlines()[-1] == "  and 950 more"

    @pytest.mark.parametrize("partial", [False, True])
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("name,answer\n", "id and label is missing. It has: name, answer"),
            ("id;answer\n", "; label is missing. It has: id, answer"),
            ("", "id and label is missing. It has: nothing"),
            ("id,label,Label\n", "must have one column label; it has 2"),
        ],
    )
    def test_columns(self, answered, content, message, partial):
        with pytest.raises(DataError, match=message):
            answered(content, partial=partial)

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"gone\.csv"):
            read_answers(tmp_path / "gone.csv", CLASSES, IDS, "ana")

    @pytest.mark.parametrize("classes", [["a", "a "], ["1", 1], ["a", " "]])
    def test_classes_that_files_cannot_tell_apart(self, tmp_path, classes):
        with pytest.raises(ConfigurationError, match="differ in more than blanks"):
            write_questions(tmp_path / "ask.csv", pd.DataFrame({"id": [], "content": []}), classes)
