"""The runner: one small cell of every kind, from the search to a stored result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from experiments.paper import __main__ as command
from experiments.paper import cells, rerun, running
from experiments.paper.configuration import ANCHORED, CONFIDENCES, DATASETS, RULES, TRAININGS, Protocol, Sweep, protocol
from experiments.paper.datasets import Points, division, load, search_division
from experiments.paper.running import run_cells
from experiments.paper.searching import search_all
from experiments.paper.store import AGAIN, RUNS, Store
from experiments.paper.unfinished import Unfinished
from labelsieve.engine import lockstep
from labelsieve.errors import ConfigurationError, DataError

CLASSES = 3
GRID = {
    "extends": "none",
    "training": {"common": {"epochs": [3], "learning_rate": [0.01, 0.1]}},
    "confidence": {"colander": {"epochs": [3], "alpha": [1.0, 10.0], "features": ["concat"]}},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All four datasets in small, in their real formats: three classes, each with a level of its own."""
    folder = tmp_path_factory.mktemp("data")
    for dataset in DATASETS:
        (folder / dataset).mkdir()
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, 600)
    grey = (rng.normal(60, 40, (600, 28, 28)) + 60 * y[:, None, None]).clip(0, 255).astype(np.uint8)
    vectors = rng.normal(size=(600, 6)) + 2 * y[:, None] * np.eye(6)[:CLASSES].sum(axis=0)
    parts = {"x_train": slice(0, 400), "x_test": slice(400, 600)}
    labels = {"y_train": y[:400], "y_test": y[400:]}
    np.savez(folder / "mnist" / "mnist.npz", **{name: grey[rows] for name, rows in parts.items()}, **labels)
    halves = {name: vectors[rows].astype(np.float16) for name, rows in parts.items()}
    np.savez(folder / "newsgroups20" / "minilm.npz", **halves, **labels)
    coarse = {name: np.rint(vectors[rows] * 10).astype(np.int8) for name, rows in parts.items()}
    np.savez(folder / "tiny_imagenet" / "features.npz", **coarse, **labels, scale=np.full(6, 0.1, dtype=np.float32))
    colour = np.repeat(grey.repeat(2, axis=1)[:, :32].repeat(2, axis=2)[:, :, :32, None], 3, axis=3)
    for number, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
        tiles = colour[100 * number : 100 * (number + 1)].reshape(10, 10, 32, 32, 3).transpose(0, 2, 1, 3, 4)
        Image.fromarray(tiles.reshape(320, 320, 3)).save(folder / "cifar10" / f"{name}.webp", lossless=True)
    np.savez(folder / "cifar10" / "labels.npz", y_train=y[:500], y_test=y[500:])
    return folder


def small(dataset: str) -> Protocol:
    """The protocol of a dataset with sizes for these data."""
    return protocol(dataset).changed(
        {
            "pool": 150,
            "validation": 300,
            "train_budget": 40,
            "first_batch": 0.5,
            "next_batch": 0.5,
            "seeds": 2,
            "precision": "full",
            "classifier": {"cifar10": "lenet"}.get(dataset, protocol(dataset).classifier),
            "search": replace(protocol(dataset).search, pool=50, validation=50, hyp=50, seeds=1),
        }
    )


def beside(store: Store) -> Unfinished:
    """Where runs that are cut off leave what they have done."""
    return Unfinished(store.folder.with_name("unfinished"))


def searched(
    of_dataset: Protocol, data: Path, tmp_path: Path, trainings: Sequence[str], confidences: Sequence[str]
) -> Store:
    store = Store(tmp_path / "results")
    search_all(of_dataset, trainings, confidences, store, data, tmp_path / "cache", "cpu", GRID)
    return store


@pytest.mark.parametrize("dataset", DATASETS)
def test_a_cell_of_every_dataset_and_rule(dataset: str, data: Path, tmp_path: Path) -> None:
    of_dataset = small(dataset)
    store = searched(of_dataset, data, tmp_path, ["squentropy"], ["softmax", "colander"])
    wanted = cells.of_choice(RULES, ["squentropy"], ["softmax", "colander", ANCHORED], [0])
    assert run_cells(wanted, of_dataset, store, data, "cpu", beside(store)) == len(wanted)
    records = store.read("runs", dataset)
    assert [(r["thresholds"], r["confidence"]) for r in records] == [(c.thresholds, c.confidence) for c in wanted]
    for record in records:
        assert record["pool"] == 150
        assert record["coverage"] == pytest.approx(record["machine_labels"] / 150, abs=1e-6)
        assert sum(part["labelled"] for part in record["rounds"]) == record["machine_labels"]
        assert sum(part["wrong"] for part in record["rounds"]) == record["wrong"]
        assert record["rounds"][-1]["train_points"] <= record["human_labels"] <= 40
    assert any(record["machine_labels"] for record in records)


@pytest.mark.filterwarnings("ignore::labelsieve.errors.LabelsieveWarning")
def test_every_combination_and_every_sweep(data: Path, tmp_path: Path) -> None:
    sweeps = {
        "train_budget": Sweep("train_budget", (40, 60), seeds=1, confidences=("softmax", "colander")),
        "validation": Sweep("validation", (60, 100), seeds=1, total=160, confidences=("softmax",)),
        "calibration_fraction": Sweep("calibration_fraction", (0.3,), seeds=1, confidences=("temperature",)),
        "features": Sweep("features", ("logits", "prelogits"), seeds=1, confidences=("colander",)),
    }
    of_dataset = small("newsgroups20").changed({"sweeps": sweeps, "seeds": 1})
    store = searched(of_dataset, data, tmp_path, TRAININGS, CONFIDENCES)
    table = cells.of_table(of_dataset)
    assert run_cells(table, of_dataset, store, data, "cpu", beside(store)) == len(table) == 4 * 7 * 2
    assert run_cells(table, of_dataset, store, data, "cpu", beside(store)) == 0
    for sweep in sweeps.values():
        new = [cell for cell in cells.of_sweep(sweep) if cell.protocol(of_dataset) != of_dataset]
        assert run_cells(cells.of_sweep(sweep), of_dataset, store, data, "cpu", beside(store)) == len(new) > 0
    used = {json.dumps(record["changes"]) for record in store.read("runs", "newsgroups20")}
    assert '{"validation": 100, "train_budget": 60}' in used


def test_in_several_processes_the_same_numbers(data: Path, tmp_path: Path) -> None:
    of_dataset = small("newsgroups20").changed({"at_once": 2})
    store = searched(of_dataset, data, tmp_path, ["vanilla"], ["softmax", "temperature"])
    wanted = cells.of_choice(["paper"], ["vanilla"], ["softmax", "temperature"], [0, 1])
    found = []
    for processes in (1, 2):
        own = Store(tmp_path / str(processes))
        own.gather(store)
        assert run_cells(wanted, of_dataset, own, data, "cpu", beside(own), processes) == 4
        measured = own.read("runs", "newsgroups20")
        found.append(sorted((r["key"], r["machine_labels"], r["wrong"], r["human_labels"]) for r in measured))
    assert found[0] == found[1]


def test_a_batch_that_fails_takes_no_other_along(data: Path, tmp_path: Path) -> None:
    of_dataset = small("newsgroups20").changed({"at_once": 1})
    store = searched(of_dataset, data, tmp_path, ["vanilla"], ["softmax"])
    wanted = cells.of_choice(["paper"], ["vanilla"], ["softmax"], [0, 1])
    too_many = replace(wanted[0], changes=(("validation", 10_000),))
    with pytest.raises(ConfigurationError, match="10,000 validation points"):
        run_cells([too_many, *wanted], of_dataset, store, data, "cpu", beside(store), processes=2)
    assert sorted(record["seed"] for record in store.read("runs", "newsgroups20")) == [0, 1]


def test_same_seed_same_numbers_other_seed_others(data: Path, tmp_path: Path) -> None:
    of_dataset = small("newsgroups20")
    store = searched(of_dataset, data, tmp_path, ["vanilla"], ["softmax", "temperature"])
    wanted = cells.of_choice(["paper"], ["vanilla"], ["temperature"], [0, 1])
    for kind in (RUNS, AGAIN):
        assert run_cells(wanted, of_dataset, store, data, "cpu", beside(store), kind=kind) == 2
    first, second = ([_numbers(r) for r in store.read(kind, "newsgroups20")] for kind in (RUNS, AGAIN))
    assert first == second
    assert first[0] != first[1]
    (compared,) = rerun.comparisons(store)
    assert (compared.identical, compared.runs) == (2, 2)
    assert (compared.matching, compared.cells) == (1, 1)


def _numbers(record: dict[str, object]) -> list[object]:
    return [record[name] for name in ("machine_labels", "wrong", "rounds", "stop_reason")]


def test_a_killed_run_goes_on_with_the_batches_that_are_missing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_dataset = small("newsgroups20").changed({"at_once": 1})
    store = searched(of_dataset, data, tmp_path, ["vanilla"], ["softmax"])
    wanted = cells.of_choice(["paper"], ["vanilla"], ["softmax"], [0, 1, 2])
    batches = []
    run_batch = running._run_batch

    def killed_in_the_second(*given: object) -> object:
        batches.append(given[0])
        if len(batches) == 2:
            raise KeyboardInterrupt
        return run_batch(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "_run_batch", killed_in_the_second)
    with pytest.raises(KeyboardInterrupt):
        run_cells(wanted, of_dataset, store, data, "cpu", beside(store))
    path = store.folder / "runs" / "newsgroups20.jsonl"
    path.write_text(path.read_text() + '{"key": "cut o')
    assert run_cells(wanted, of_dataset, store, data, "cpu", beside(store)) == 2
    assert [record["seed"] for record in store.read("runs", "newsgroups20")] == [0, 1, 2]


def test_a_batch_that_is_cut_off_goes_on_from_there(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the last round of two runs, for one of them in the middle of writing down the round before."""
    of_dataset = small("newsgroups20")
    store = searched(of_dataset, data, tmp_path, ["vanilla"], ["softmax", "temperature"])
    wanted = cells.of_choice(["paper"], ["vanilla"], ["softmax", "temperature"], [0])
    fits: list[object] = []
    fit_together, cut_off_at = lockstep.fit_together, [0]

    def counted(requests: Sequence[object]) -> object:
        fits.append(requests)
        if len(fits) == cut_off_at[0]:
            raise KeyboardInterrupt
        return fit_together(requests)  # type: ignore[arg-type]

    monkeypatch.setattr(lockstep, "fit_together", counted)
    whole = Store(tmp_path / "whole")
    whole.gather(store)
    run_cells(wanted, of_dataset, whole, data, "cpu", beside(whole))
    of_whole = len(fits)

    cut_off_at[0] = 2 * of_whole - 2
    with pytest.raises(KeyboardInterrupt):
        run_cells(wanted, of_dataset, store, data, "cpu", beside(store))
    files = sorted((tmp_path / "unfinished").iterdir())
    assert len(files) == 2
    files[0].write_bytes(files[0].read_bytes()[:-10])

    fits.clear()
    assert run_cells(wanted, of_dataset, store, data, "cpu", beside(store)) == 2
    one, other = (sorted(_numbers(record) for record in own.read("runs", "newsgroups20")) for own in (store, whole))
    assert one == other
    assert 0 < len(fits) < of_whole  # not from the beginning
    assert {record["seconds"] for record in store.read("runs", "newsgroups20")} == {None}  # nobody knows them all
    assert None not in {record["seconds"] for record in whole.read("runs", "newsgroups20")}
    assert not list((tmp_path / "unfinished").iterdir())


def test_the_searchs_points_are_in_no_pool_and_no_validation_data() -> None:
    points = Points(np.arange(1_000)[:, None], np.arange(1_000) % 3)
    of_dataset = small("mnist")
    own = search_division(points, of_dataset)
    searched_points = {int(x) for part in (own.pool, own.validation, own.hyp) for x in part.x[:, 0]}
    assert len(searched_points) == 150
    pools = []
    for seed in range(3):
        divided = division(points, of_dataset, seed)
        pool, validation = ({int(x) for x in part.x[:, 0]} for part in (divided.pool, divided.validation))
        assert (len(pool), len(validation)) == (150, 300)
        assert not pool & validation
        assert not (pool | validation) & searched_points
        pools.append(pool)
    assert pools[0] != pools[1]


def test_what_is_missing_is_said(data: Path, tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(ConfigurationError, match=r"experiments\.paper search --dataset mnist"):
        run_cells(
            cells.of_choice(["paper"], ["vanilla"], ["softmax"], [0]), small("mnist"), store, data, "cpu", beside(store)
        )
    with pytest.raises(DataError, match=r"experiments\.paper fetch"):
        load("mnist", tmp_path)
    with pytest.raises(ConfigurationError, match="Lower one of them"):
        division(load("mnist", data), small("mnist").changed({"pool": 500}), 0)


def test_the_command_line(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--results", str(tmp_path), "run", "--dataset", "mnist", "--training", "vanilla", "--seeds", "0-1"]
    assert command.main([*asked, "--data", str(data)]) == 2
    assert "must be searched first" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["run", "--dataset", "mnits"])
    assert "expected some of mnist" in capsys.readouterr().err
    assert command._seeds("0-2") == (0, 1, 2)
    assert command._seeds("0,2") == (0, 2)


def test_the_committed_results_are_of_todays_protocol() -> None:
    """A change of a protocol or of a search makes runs stale; they must then be run again or deleted."""
    store = Store()
    for dataset in DATASETS:
        of_dataset = protocol(dataset)
        wanted = cells.of_table(of_dataset)
        for sweep in of_dataset.sweeps.values():
            wanted += cells.of_sweep(sweep)
        chosen = running.Chosen(store, of_dataset)
        records = store.read("runs", dataset)
        known = {running._key(c, of_dataset, chosen, RUNS, "cpu") for c in wanted} if records else set()
        assert {record["key"] for record in records} <= known
