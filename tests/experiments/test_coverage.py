"""docs/coverage.md says what its results say, and a run of it can be done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.coverage import document, running
from experiments.paper.configuration import CONFIDENCES, TRAININGS, protocol
from experiments.paper.datasets import Division, Points
from experiments.paper.store import Store
from experiments.paper.unfinished import Unfinished

DOCS = Path(__file__).parents[2] / "docs"


def test_the_document_is_what_the_results_give() -> None:
    assert (DOCS / document.NAME).read_text(encoding="utf-8") == document.render(Store(running.RESULTS))
    assert (DOCS / document.FIGURE).is_file()


def test_the_readme_shows_the_same_numbers() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert "@" in document.with_table(readme, Store(running.RESULTS))
    assert readme == document.with_table(readme, Store(running.RESULTS))


def test_seeds_that_label_nothing_are_said() -> None:
    assert str(document.Cell((0.5, 0.0, 0.1), (0.04, 0.06))) == "20.0 ± 26.5 @ 5.0 (2/3, 1 empty)"
    assert str(document.Cell((0.0,), ())) == "0.0 @ – (1/1, 1 empty)"


def test_the_baseline_is_what_the_paper_has() -> None:
    for section in document.sections(Store(running.RESULTS)):
        assert len(section.combinations) in (0, len(TRAININGS) * len(CONFIDENCES))
        assert not any("anchored" in name for name in section.combinations)


def test_errors_beyond_the_tolerance_by_seed() -> None:
    runs = [{"seed": seed, "error": error} for seed, error in ((0, 0.06), (0, 0.05), (1, None), (0, 0.07), (1, 0.051))]
    assert document._broken(runs) == {0: [0.06, 0.07], 1: [0.051]}


def test_seed_by_seed_against_the_best_combination_of_each() -> None:
    def runs(*coverages: float) -> list[dict[str, float]]:
        return [{"seed": seed, "coverage": coverage} for seed, coverage in enumerate(coverages)]

    combinations = [*runs(0.1, 0.0, 0.2), *runs(0.2, 0.0, 0.1)]
    assert document._seed_by_seed(runs(0.4, 0.3, 0.1), combinations) == pytest.approx([2, 0.5])  # none covers with 1


def test_versions_are_ordered_by_their_numbers() -> None:
    section = replace(document.sections(Store(running.RESULTS))[0], by_version={"0.10.0": ["auto"], "0.4.0": ["auto"]})
    assert document._older_versions([section]) == ["0.4.0"]


def test_committed_runs_are_of_todays_settings() -> None:
    for dataset in running.datasets().values():
        records = Store(running.RESULTS).read("runs", dataset.name)
        assert records
        for record in records:
            expected = running._key(dataset, protocol(dataset.paper), record["variant"], record["seed"])
            assert record["key"] == expected


def test_a_better_network_is_not_run_where_there_is_none(tmp_path: Path) -> None:
    running.run(
        ["newsgroups20"], ["better-network"], [0], Store(tmp_path), tmp_path, "cpu", Unfinished(tmp_path / "unfinished")
    )
    assert not Store(tmp_path).read("runs", "newsgroups20")


def small_points(n: int, seed: int) -> Points:
    rng = np.random.default_rng([n, seed])
    y = rng.integers(3, size=n)
    return Points(np.eye(3, 8)[y] * 3 + rng.normal(size=(n, 8)), y)


@pytest.fixture
def small_dataset(monkeypatch: pytest.MonkeyPatch) -> running.Dataset:
    small = protocol("newsgroups20").changed({"train_budget": 120})
    dataset = replace(
        running.datasets()["newsgroups20"],
        better_network={"classifier": "logistic"},
        parameters={"logistic": {"scale_inputs": False}},
    )
    monkeypatch.setattr(running, "protocol", lambda _: small)
    monkeypatch.setattr(running, "datasets", lambda: {"newsgroups20": dataset})
    monkeypatch.setattr(
        running, "_divided", lambda *given: Division(small_points(1500, given[-1]), small_points(400, given[-1]))
    )
    return dataset


@pytest.mark.parametrize("variant", running.variants())
def test_a_small_run_of_every_variant(variant: str, tmp_path: Path, small_dataset: running.Dataset) -> None:
    store = Store(tmp_path)
    for _ in range(2):  # the second time there is nothing left to do
        running.run(["newsgroups20"], [variant], [0], store, tmp_path, "cpu", Unfinished(tmp_path / "unfinished"))
    (record,) = store.read("runs", "newsgroups20")
    assert record["coverage"] > 0
    assert record["error"] <= 0.05
    assert len(record["risk_curve"]) == 100
    assert record["risk_curve"][-1] == pytest.approx(1 - record["right"], abs=1e-4)
    cell = document._section(small_dataset, store).cells[variant]
    assert cell.coverage == record["coverage"]


def test_seeds_side_by_side_are_as_each_alone(tmp_path: Path, small_dataset: running.Dataset) -> None:
    """Also where one of them has its result already."""
    together, alone = Store(tmp_path / "together"), Store(tmp_path / "alone")
    chosen = ["softmax", "auto"]
    running.run(["newsgroups20"], ["softmax"], [0], together, tmp_path, "cpu", Unfinished(tmp_path / "unfinished"))
    running.run(["newsgroups20"], chosen, [0, 1], together, tmp_path, "cpu", Unfinished(tmp_path / "unfinished"))
    for seed in (0, 1):
        running.run(["newsgroups20"], chosen, [seed], alone, tmp_path, "cpu", Unfinished(tmp_path / "unfinished"))
    of_both = [
        {
            (r["variant"], r["seed"]): (r["key"], r["machine_labels"], r["wrong"])
            for r in store.read("runs", "newsgroups20")
        }
        for store in (together, alone)
    ]
    assert len(of_both[0]) == 4
    assert of_both[0] == of_both[1]
    assert of_both[0]["auto", 0] != of_both[0]["auto", 1]
