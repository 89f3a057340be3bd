"""Handing items to people."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from labelsieve.engine.entries import Answered, Asked, Role
from labelsieve.errors import DataError
from labelsieve.project import Project
from labelsieve.project.batch import is_decided
from labelsieve.project.desk import Desk, Progress, Turn
from labelsieve.project.people import decisions
from labelsieve.store.answers import Answer
from labelsieve.store.journal import journalled
from labelsieve.store.lock import held
from tests.web.projects import handed_out, made


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Project(made(tmp_path / "p", [f"text {row}" for row in range(10)], asked=[2, 5, 7])) as opened:
        yield opened


def row_for(desk: Desk, name: str) -> int | None:
    question = desk.next_item(name)
    return None if question is None else question.row


class TestOrder:
    def test_random_and_the_same_after_a_restart(self, tmp_path: Path) -> None:
        """As if the file were sorted by class: the first half of the batch must not be the first half of the file."""
        folder = made(tmp_path / "p", [f"text {row}" for row in range(200)], asked=range(100, 200))
        orders = []
        for _ in range(2):
            with Project(folder) as project:
                desk, order = Desk(project), []
                while (row := row_for(desk, f"ann {len(order)}")) is not None:
                    order.append(row)
                orders.append(order)
                assert list(project.questions()["row"]) == order
                project.database.read("DELETE FROM leases")
        assert orders[0] == orders[1]
        assert sorted(orders[0]) == list(range(100, 200))
        assert 15 < sum(row >= 150 for row in orders[0][:50]) < 35

    def test_another_seed_gives_another(self, tmp_path: Path) -> None:
        orders = []
        for seed in (0, 1):
            texts = [f"text {row}" for row in range(50)]
            folder = made(tmp_path / str(seed), texts, asked=range(50), labelling={"random_state": seed})
            orders.append(handed_out(folder))
        assert orders[0] != orders[1]


class TestLeases:
    def test_nobody_gets_what_another_has(self, project: Project) -> None:
        desk = Desk(project)
        first, second, third = handed_out(project.folder)
        shown = [row_for(desk, name) for name in ("ann", "bob", "ann", "cid", "dan")]
        assert shown == [first, second, first, third, None]

    def test_they_end(self, project: Project) -> None:
        clock = Clock()
        desk = Desk(project, clock=clock)
        first, second, _ = handed_out(project.folder)
        assert row_for(desk, "ann") == first
        clock.now += 299
        assert row_for(desk, "bob") == second
        clock.now += 2
        assert row_for(desk, "cid") == first
        assert not desk.answer("ann", first, "food")  # another has it now
        assert desk.answer("cid", first, "food")

    def test_they_outlive_the_server(self, project: Project) -> None:
        first, second, _ = handed_out(project.folder)
        assert row_for(Desk(project), "ann") == first
        with Project(project.folder) as again:
            assert row_for(Desk(again), "bob") == second

    def test_overlap(self, tmp_path: Path) -> None:
        with Project(made(tmp_path / "p", ["one", "two"], asked=[0], overlap=2)) as project:
            desk = Desk(project)
            assert [row_for(desk, name) for name in ("ann", "bob", "cid")] == [0, 0, None]
            assert desk.answer("ann", 0, "food")
            assert row_for(desk, "ann") is None
            assert desk.answer("bob", 0, "travel")
            assert desk.turn() is Turn.PEOPLE  # a tie: one more
            assert [row_for(desk, name) for name in ("ann", "cid", "dan")] == [None, 0, None]
            assert desk.answer("cid", 0, "food")
            assert desk.turn() is Turn.MACHINE
            assert not desk.answer("dan", 0, "food")


class TestAnswers:
    def test_what_cannot_be_answered(self, project: Project) -> None:
        desk = Desk(project)
        assert not desk.answer("ann", 0, "food")  # never asked
        assert not desk.pass_on("ann", 0, "skip")
        with pytest.raises(DataError, match="must be one of"):
            desk.answer("ann", 2, "drinks")
        assert not len(project.answers.table())

    def test_counts(self, project: Project) -> None:
        clock = Clock()
        desk = Desk(project, clock=clock)
        desk.answer("ann", 2, "food")
        clock.now += 10_000
        desk.answer("ann", 5, "food")
        assert desk.progress("ann") == Progress(batch=3, decided=2, labels=2, budget=180, given=2, session=1, mine=2)
        assert Desk(project).progress("ann").given == 2  # as another server reads it
        assert desk.progress("bob").given == 0
        desk.undo("ann")
        assert desk.progress("ann").given == 1

    def test_undo_is_over_when_the_machine_has_it(self, project: Project) -> None:
        desk = Desk(project)
        for row in (2, 5, 7):
            assert desk.answer("ann", row, "food")
        with held(project.folder / "project.lock", "labelsieve run"):
            assert desk.undo("ann") is None
        question = desk.undo("ann")
        assert question is not None
        assert question.row == 7
        assert desk.answer("ann", 7, "travel")
        with Project(project.folder) as other:
            ledger = journalled(other.database)
            rows = ledger.state.pending()
            ledger.append(Answered(rows, rows * 0, "people"), Asked(2, Role.TRAIN, rows + 1, rows * 0 + 0.5))
        assert desk.undo("ann") is None
        assert desk.progress("ann").given == 0
        assert row_for(desk, "ann") == handed_out(project.folder)[0]

    def test_answers_of_another_process_count_at_once(self, project: Project) -> None:
        desk = Desk(project)
        first, second, third = handed_out(project.folder)
        assert row_for(desk, "ann") == first
        with Project(project.folder) as other:
            other.answers.add([Answer(second, "food", "file")])
        assert row_for(desk, "bob") == third


def test_decided_as_the_machine_will_see_it() -> None:
    rng = random.Random(0)
    for _ in range(300):
        overlap = rng.randint(1, 4)
        answers = {name: rng.choice("xyz") for name in "abcdef"[: rng.randint(0, 6)]}
        table = pd.DataFrame(
            [(0, label, name) for name, label in answers.items()], columns=["row", "label", "annotator"]
        )
        assert is_decided(answers, overlap) == (0 in decisions(table, overlap))
