"""docs/coverage.md says what its results say, and a run of it can be done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import labelsieve as ls
from experiments.coverage import document, limit, running
from experiments.paper.configuration import CONFIDENCES, TRAININGS, protocol
from experiments.paper.datasets import Division, Points, load
from experiments.paper.store import Store
from experiments.paper.unfinished import Unfinished
from labelsieve.engine.suited import classifier_suited_to, training_suited_to

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


def run_of(seed: int, coverage: float, machine: int = 0, human: int = 10, version: str = "0.4.0") -> dict[str, object]:
    own = {"seed": seed, "coverage": coverage, "machine_labels": machine, "human_labels": human, "version": version}
    return {**own, "risk_curve": list(np.linspace(0, coverage, 100))}


def test_gains_are_differences_of_runs_with_the_same_seed() -> None:
    gain = document._gain([run_of(1, 0.6), run_of(0, 0.3), run_of(2, 0.9)], [run_of(0, 0.4), run_of(1, 0.4)], 100)
    assert gain.differences == pytest.approx([0.2, -0.1])
    assert str(gain) == "+5.0 ± 15.0"
    assert str(document.Gain((-0.1,))) == "−10.0"
    assert str(document.Gain((-0.0001, 0.0001))) == "+0.0 ± 0.0"
    assert document._gain([run_of(0, 0.3)], [run_of(1, 0.3)], 100) is None


def test_gains_at_the_limit_and_of_two_versions_are_marked() -> None:
    everything = [run_of(0, 0.9, machine=90)]
    assert str(document._gain(everything, everything, 100)) == "limit"
    assert str(document._gain(everything, [run_of(0, 0.8, machine=80, human=20)], 100)) == "+10.0"
    assert str(document._gain(everything, [run_of(0, 0.8, machine=80, version="0.3.0")], 100)) == "+10.0 ‡"


def test_what_variants_are_compared_with() -> None:
    names = set(running.variants())
    assert names - {"softmax", "as-it-comes"} == set(document._BASES)
    assert {base for bases in document._BASES.values() for base in bases} < names
    for section in document.sections(Store(running.RESULTS)):
        base = "better-network" if section.dataset.has("better-network") else "softmax"
        difference = section.cells["semi-supervised"].coverage - section.cells[base].coverage
        assert np.mean(section.gains["semi-supervised"].differences) == pytest.approx(difference)


def test_the_datasets_have_as_many_points_as_the_settings_say(shared_data: Path) -> None:
    for name, n in running.numbers_of_points().items():
        assert len(load(name, shared_data)) == n


def test_curves_are_over_the_whole_pool() -> None:
    shares, error = document._risk_in_pool([run_of(0, 0.4, human=20), run_of(1, 0.2, human=60)], 100)
    assert (shares[0], shares[-1]) == pytest.approx((0.8, 40))
    assert error[-1] == pytest.approx((100 * 0.4 * 49 / 99 + 20) / 2)  # half of what the first run left is 40 %


def test_versions_are_told_the_newest_first() -> None:
    assert document.in_words({"0.4.0": ["auto", "softmax"]}) == "0.4.0"
    by_version = {"0.9.0": ["evidence"], "0.4.0": ["auto", "softmax", "kernel"], "0.10.0": ["features", "as-it-comes"]}
    assert document.in_words(by_version) == "0.10.0: features, as-it-comes; 0.9.0: evidence; 0.4.0: all others"


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


def test_how_far_features_go_by_a_head_with_ever_more_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    x = (3 * np.eye(3)[y] + rng.normal(size=(400, 3))).astype(np.float32)
    monkeypatch.setattr(limit, "load", lambda *_: Points(x, y))
    monkeypatch.setattr(limit, "_JUDGED", 200)
    for _ in range(2):  # what is there is not measured again
        limit.run(Store(tmp_path), tmp_path, labels=(30, 200))
    few, many = Store(tmp_path).read(limit.KIND, limit.DATASET)
    assert (few["labels"], many["labels"]) == (30, 200)
    assert 0.6 < few["right"] <= many["right"] + 0.05
    assert 0 < many["coverage"] <= 1


@pytest.mark.parametrize("name", ["newsgroups20", "tiny_imagenet"])
def test_as_it_comes_is_what_the_product_takes_by_itself(name: str, shared_data: Path) -> None:
    dataset = running.datasets()[name]
    pool = ls.Pool(load(dataset.paper, shared_data).x[:500])
    classifier = classifier_suited_to(pool, "cpu")
    taken = {"classifier": classifier, "training": training_suited_to(classifier, protocol(dataset.paper).pool)}
    assert {"training": "vanilla", **dataset.as_it_comes} == taken
