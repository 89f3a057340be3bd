"""docs/coverage.md says what its results say, and a run of it can be done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.coverage import document, running
from experiments.paper.configuration import protocol
from experiments.paper.datasets import Division, Points
from experiments.paper.store import Store

DOCS = Path(__file__).parents[2] / "docs"


def test_the_document_is_what_the_results_give() -> None:
    assert (DOCS / document.NAME).read_text(encoding="utf-8") == document.render(Store(running.RESULTS))
    assert (DOCS / document.FIGURE).is_file()


def test_the_readme_shows_the_same_numbers() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert "@" in document.with_table(readme, Store(running.RESULTS))
    assert readme == document.with_table(readme, Store(running.RESULTS))


def test_committed_runs_are_of_todays_settings() -> None:
    for dataset in running.datasets().values():
        records = Store(running.RESULTS).read("runs", dataset.name)
        assert records
        for record in records:
            expected = running._key(dataset, protocol(dataset.paper), record["variant"], record["seed"])
            assert record["key"] == expected


def test_a_better_network_is_not_run_where_there_is_none(tmp_path: Path) -> None:
    running.run(["newsgroups20"], ["better-network"], [0], Store(tmp_path), tmp_path, "cpu")
    assert not Store(tmp_path).read("runs", "newsgroups20")


@pytest.mark.parametrize("variant", running.variants())
def test_a_small_run_of_every_variant(variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)

    def points(n: int) -> Points:
        y = rng.integers(3, size=n)
        return Points(np.eye(3, 8)[y] * 3 + rng.normal(size=(n, 8)), y)

    small = protocol("newsgroups20").changed({"train_budget": 120})
    dataset = replace(
        running.datasets()["newsgroups20"],
        better_network={"classifier": "logistic"},
        parameters={"logistic": {"scale_inputs": False}},
    )
    monkeypatch.setattr(running, "protocol", lambda _: small)
    monkeypatch.setattr(running, "datasets", lambda: {"newsgroups20": dataset})
    monkeypatch.setattr(running, "_divided", lambda *_: Division(points(1500), points(400)))
    store = Store(tmp_path)
    for _ in range(2):  # the second time there is nothing left to do
        running.run(["newsgroups20"], [variant], [0], store, tmp_path, "cpu")
    (record,) = store.read("runs", "newsgroups20")
    assert record["coverage"] > 0
    assert record["error"] <= 0.05
    assert len(record["risk_curve"]) == 100
    assert record["risk_curve"][-1] == pytest.approx(1 - record["right"], abs=1e-4)
    cell = document._section(dataset, store).cells[variant]
    assert cell.coverage == record["coverage"]
