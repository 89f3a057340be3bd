"""Items, answers, and the lock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from labelsieve.errors import DataError, ProjectError
from labelsieve.store.answers import Answer, Answers
from labelsieve.store.database import Database
from labelsieve.store.items import Items
from labelsieve.store.lock import held, holder


@pytest.fixture
def database(tmp_path: Path):
    with Database(tmp_path / "p.sqlite", make=True) as made:
        yield made


def test_items_keep_order_and_are_found_by_id(database: Database) -> None:
    items = Items(database)
    assert items.fill([(["b", "a"], ["two", "one"]), (["ü"], ["<script>"])]) == 3 == len(items)
    assert items.ids().tolist() == ["b", "a", "ü"]
    assert items.take(np.array([2, 0])) == [("ü", "<script>"), ("b", "two")]
    assert list(items.chunks(1, size=1)) == [["one"], ["<script>"]]
    assert items.row_of("a") == 1
    assert items.row_of("c") is None


def test_an_id_has_300_characters_at_most(database: Database) -> None:
    items = Items(database)
    with pytest.raises(DataError, match=r"at most 300 characters; one has 301: 'x{40}'"):
        items.fill([(["a"], ["one"]), (["b", "x" * 301], ["two", "three"])])
    assert len(items) == 0
    assert items.fill([(["x" * 300], ["one"])]) == 1
    with pytest.raises(DataError, match="at most 300 characters"):
        items.add([(["y" * 301], ["two"])])
    assert items.ids().tolist() == ["x" * 300]


def test_items_are_all_there_or_none(database: Database) -> None:
    def cut_off():
        yield ["a"], ["x"]
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        Items(database).fill(cut_off())
    assert len(Items(database)) == 0


def test_one_answer_per_person_and_item_and_nothing_is_deleted(database: Database) -> None:
    Items(database).fill([(["a", "b"], ["", ""])])
    answers = Answers(database)
    answers.add([Answer(0, "cat", "ann"), Answer(0, "dog", "bob"), Answer(1, "cat", "ann")])
    answers.add([Answer(0, "dog", "ann")])
    assert answers.take_back(1, "ann")
    assert not answers.take_back(1, "ann")
    assert answers.table()[["row", "label", "annotator"]].to_numpy().tolist() == [[0, "dog", "bob"], [0, "dog", "ann"]]
    assert database.read("SELECT count(*) FROM answers").fetchone() == (4,)
    with pytest.raises(Exception, match="FOREIGN KEY"):
        answers.add([Answer(0, "cat", "cid"), Answer(7, "cat", "cid")])
    assert "cid" not in set(answers.table()["annotator"])


def test_a_second_process_is_told_who_has_the_project(tmp_path: Path) -> None:
    lock = tmp_path / "project.lock"
    code = (
        f"from labelsieve.store.lock import held\nfrom pathlib import Path\nwith held(Path({str(lock)!r}), 'x'): pass"
    )
    with held(lock, "labelsieve run"):
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert second.returncode
        assert "labelsieve run" in second.stderr
        assert "process" in second.stderr
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(ProjectError, match="worked on by process"), held(lock, "x"), held(lock, "y"):
        pass


def test_who_holds_the_lock_can_be_asked(tmp_path: Path) -> None:
    lock = tmp_path / "project.lock"
    assert holder(lock) is None
    with held(lock, "labelsieve run"):
        said = holder(lock)
        assert said is not None
        assert said.startswith(f"process {os.getpid()} on ")
        assert said.endswith(": labelsieve run")
    assert holder(lock) is None
    lock.write_text('{"doing": "labelsieve run", "process": 1}')  # as one that was killed leaves it
    assert holder(lock) is None
