"""Label Studio's JSON, out and back. The exports read here have the shape that its server 1.23 writes."""

from __future__ import annotations

import json
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsieve.errors import ConfigurationError, DataError
from labelsieve.exports import labelling_config, read_annotations, write_export
from labelsieve.types import Answer
from tests.unit.exports.rows import CLASSES, HUMAN, MACHINE, ODD_TEXTS, ROWS, UNLABELLED, chunk


def tasks_of(rows, folder, kind="text", classes=CLASSES, content=True):
    write_export(
        [chunk([row], content=content) for row in rows], folder / "out", "label-studio", classes=classes, kind=kind
    )
    return json.loads((folder / "out").read_text(encoding="utf-8"))


def choice(label, **more):
    return {"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [label]}} | more


class TestTasks:
    def test_people_annotate_and_machines_predict(self, tmp_path):
        human, machine, unlabelled = tasks_of(ROWS, tmp_path)
        assert human == {
            "data": {"id": "007", "item_id": "007", "text": "a text"},
            "annotations": [{"ground_truth": False, "result": [choice("cat", meta={"annotator": "ana", "round": 1})]}],
        }
        assert machine["predictions"] == [
            {
                "model_version": "f00d",
                "score": 0.1 + 0.2,
                "result": [choice("dog", meta={"round": 2, "threshold": 1 / 3})],
            }
        ]
        assert machine["data"]["text"] == ROWS[1]["content"]
        assert set(unlabelled) == {"data"}

    def test_answers_to_one_item_are_one_task(self, tmp_path):
        rows = [HUMAN | {"annotator": name, "label": label} for name, label in (("ana", "cat"), ("bob", "dog"))]
        tasks = tasks_of([*rows, MACHINE], tmp_path)
        assert [len(task.get("annotations", [])) for task in tasks] == [2, 0]
        assert read_annotations(tmp_path / "out") == [Answer("007", "cat", "ana"), Answer("007", "dog", "bob")]

    @pytest.mark.parametrize(
        ("kind", "content", "data"),
        [
            ("image", "pictures/a b.png", {"image": "pictures/a b.png"}),
            ("text", None, {"text": ""}),
            ("table", {"age": 3}, {"table": {"age": 3}}),
            ("table", '{"age": 3}', {"table": {"age": 3}}),
            ("table", "no object", {"table": {"row": "no object"}}),
            ("features", "what they are of", {"content": "what they are of"}),
        ],
    )
    def test_what_is_shown(self, tmp_path, kind, content, data):
        (task,) = tasks_of([HUMAN | {"content": content}], tmp_path, kind)
        assert task["data"] == {"id": "007", "item_id": "007"} | data

    def test_features_need_nothing_to_show_and_texts_do(self, tmp_path):
        (task,) = tasks_of([HUMAN | {"id": 3, "label": 7}], tmp_path, "features", classes=[7, 8], content=False)
        assert task["data"] == {"id": 3, "item_id": 3}
        assert task["annotations"][0]["result"][0]["value"] == {"choices": ["7"]}
        with pytest.raises(DataError, match="export of text for it needs the column content"):
            tasks_of([HUMAN], tmp_path, content=False)

    def test_many_and_none(self, tmp_path):
        rows = [HUMAN | {"id": str(number), "content": "x"} for number in range(2_345)]
        write_export([chunk(rows)], tmp_path / "out", "label-studio", classes=CLASSES, kind="text")
        assert [answer.id for answer in read_annotations(tmp_path / "out")] == [str(number) for number in range(2_345)]
        assert tasks_of([], tmp_path) == []

    @settings(max_examples=60, deadline=None)
    @given(id_=ODD_TEXTS, label=ODD_TEXTS.filter(bool), text=ODD_TEXTS, annotator=ODD_TEXTS.filter(bool))
    def test_odd_texts_come_back(self, id_, label, text, annotator):
        row = HUMAN | {"id": id_, "label": label, "content": text, "annotator": annotator}
        with tempfile.TemporaryDirectory() as folder:
            (task,) = tasks_of([row, UNLABELLED | {"id": id_}], Path(folder), classes=[label])
            assert task["data"]["text"] == text
            assert read_annotations(Path(folder) / "out") == [Answer(id_, label, annotator)]


class TestConfig:
    @pytest.mark.parametrize(
        ("kind", "tag", "value"),
        [
            ("text", "Text", "$text"),
            ("image", "Image", "$image"),
            ("table", "Table", "$table"),
            ("features", "Text", "$id"),
        ],
    )
    def test_what_it_shows(self, kind, tag, value):
        item, choices = ET.fromstring(labelling_config(["a", 3], kind))
        assert (item.tag, item.get("name"), item.get("value")) == (tag, "item", value)
        assert (choices.tag, choices.get("name"), choices.get("toName")) == ("Choices", "label", "item")
        assert [child.get("value") for child in choices] == ["a", "3"]

    @given(
        st.lists(
            st.text(st.characters(blacklist_categories=["Cs", "Cc", "Cn"]) | st.sampled_from("<>&'\"\n\t\r")),
            min_size=1,
        )
    )
    def test_names_are_inert(self, names):
        names = [f"x{name}" for name in names]
        (_, choices) = ET.fromstring(labelling_config(names, "text"))
        assert [child.get("value") for child in choices] == names

    @pytest.mark.parametrize("name", ["bell\x07", "nul\x00", " ", "", "\ud800"])
    def test_names_that_xml_cannot_hold(self, name):
        with pytest.raises(ConfigurationError, match="Class names for Label Studio"):
            labelling_config(["a", name], "text")

    def test_unknown_kind(self):
        with pytest.raises(ConfigurationError, match="'features'; got 'video'"):
            labelling_config(["a"], "video")


def annotation(label="cat", completed_by=1, **more):
    return {"id": 5, "completed_by": completed_by, "result": [choice(label)], "was_cancelled": False} | more


def full(*annotations, data=None):
    data = {"id": "007", "item_id": "007", "text": "a text"} if data is None else data
    return {"id": 1, "annotations": list(annotations), "drafts": [], "predictions": [4], "data": data, "meta": {}}


def read(*tasks):
    return read_annotations(json.dumps(tasks).encode())


class TestReading:
    def test_several_annotations_of_a_task_are_kept(self):
        people = [1, {"id": 2, "email": "bob@example.org"}, {"id": 3}, None]
        answers = read(full(*(annotation(completed_by=person) for person in people)))
        assert answers == [Answer("007", "cat", who) for who in ("1", "bob@example.org", "3", "label-studio")]

    def test_cancelled_empty_and_predicted_are_no_answers(self):
        assert read(full(annotation(was_cancelled=True), annotation(result=[])), full()) == []

    def test_who_answered_before_the_import(self):
        """Label Studio says that all imported annotations were completed by whoever imported them."""
        result = [choice("cat", meta={"annotator": "ana"})]
        untouched, changed = annotation(result=result, updated_by=None), annotation(result=result, updated_by=1)
        assert [answer.annotator for answer in read(full(untouched, changed))] == ["ana", "1"]

    def test_tasks_that_we_did_not_write(self):
        assert read(full(annotation(), data={"id": 12, "text": "x"})) == [Answer(12, "cat", "1")]
        other = choice("dog", from_name="sentiment")
        assert read(full(annotation(result=[other])))[0].label == "dog"
        assert read(full(annotation(result=[other, choice("cat"), {"type": "rating", "value": {"rating": 3}}]))) == [
            Answer("007", "cat", "1")
        ]

    def test_short_form(self):
        """Its ``id`` is Label Studio's number of the task."""
        short = {"id": 1, "item_id": "007", "text": "a text", "annotation_id": 5, "lead_time": None}
        given = [
            {"label": "cat", "annotator": 1},
            {"label": "dog", "annotator": "bob@example.org"},
            {"annotator": None},
        ]
        assert read(*(short | more for more in given)) == [
            Answer("007", "cat", "1"),
            Answer("007", "dog", "bob@example.org"),
        ]

    def test_byte_order_mark(self):
        assert read_annotations(b"\xef\xbb\xbf[]") == []

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "must be Label Studio's JSON, in UTF-8"),
            (b"[{]", "line 1 column 3"),
            (b'["\xff"]', "in UTF-8"),
            (b"[" * 100_000, "cannot be read"),
            (b'{"tasks": []}', "a list of tasks; it is an object"),
            (b"null", "it is null"),
            (b"[3]", "task 1: must be an object; it is a number"),
            (b'[{"data": {}, "annotations": [7]}]', "task 1: annotations must be a list of objects"),
            (b'[{"data": {}, "annotations": [{"result": 1}]}]', "task 1: the result of an annotation must be a list"),
        ],
    )
    def test_other_files(self, content, message):
        with pytest.raises(DataError, match=message):
            read_annotations(content)

    def test_all_problems_at_once(self, tmp_path):
        two = annotation(result=[{"type": "choices", "from_name": "label", "value": {"choices": ["cat", "dog"]}}])
        tasks = [full(annotation()), full(two), full(annotation(), data={"text": "x"}), {"id": 1, "label": "cat"}]
        (tmp_path / "export.json").write_text(json.dumps(tasks))
        with pytest.raises(DataError) as caught:
            read_annotations(tmp_path / "export.json")
        assert str(caught.value).splitlines() == [
            f"{tmp_path / 'export.json'} has tasks that cannot be read:",
            '  task 2: one annotation must choose one class; got ["cat", "dog"]',
            "  task 3: must have the id of the item in its data, as item_id or id",
            "  task 4: must have the id of the item in its data, as item_id",
        ]
