"""The files: complete, strict, atomic."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import labelsieve as ls
from labelsieve.errors import DataError
from tests.unit.reports.runs import Labelled, label_blobs


def strict(path: Path) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_three_files_and_nothing_else(with_truth: Path) -> None:
    assert sorted(path.name for path in with_truth.iterdir()) == ["labels.csv", "report.html", "run.json"]


def test_csv_equals_run_labels(labelled: Labelled, without_truth: Path) -> None:
    read = pd.read_csv(
        without_truth / "labels.csv", keep_default_na=False, na_values={"confidence": "", "threshold": ""}
    )
    assert list(read.columns) == ["id", "label", "source", "role", "round", "confidence", "threshold"]
    pd.testing.assert_frame_equal(read, labelled.run.labels, check_dtype=False, check_exact=True)


def test_record_agrees_with_the_run_and_the_truth(labelled: Labelled, with_truth: Path) -> None:
    run, evaluation = labelled.run, labelled.run.evaluate(labelled.truth)
    record = strict(with_truth / "run.json")
    assert record["title"] == "Animals"
    assert record["seed"] == 0
    assert record["classes"] == ["ant", "bee", "cat", "dog", "elk"]
    assert record["coverage"] == run.coverage
    assert record["machine_labels"] == run.machine_labels
    assert record["human_labels"] == run.human_labels
    assert record["machine_labels"] + record["human_labels"] + record["unlabelled"] == record["pool_size"] == 400
    assert record["stop_reason"] == run.stop_reason
    assert record["settings"]["tolerance"] == record["tolerance"] == 0.1
    assert {"labelsieve", "python", "numpy"} <= set(record["versions"])
    assert record["versions"]["labelsieve"] == ls.__version__
    assert record["against_truth"] == {
        "wrong": len(evaluation.wrong),
        "of": run.machine_labels,
        "error": evaluation.error,
    }
    assert [row["machine_labelled"] for row in record["rounds"]] == [report.machine_labelled for report in run.rounds]
    assert sum(row["against_truth"]["wrong"] for row in record["rounds"]) == len(evaluation.wrong)
    assert sum(row["against_truth"]["wrong"] for row in record["per_class"]) == len(evaluation.wrong)


def test_infinite_thresholds_are_null(unlabelled: Labelled, tmp_path: Path) -> None:
    ls.write_report(unlabelled.run, tmp_path, y_true=unlabelled.truth)
    record = strict(tmp_path / "run.json")
    assert [row["thresholds"] for row in record["rounds"]] == [[None] * 5] * len(unlabelled.run.rounds)
    assert record["against_truth"] == {"wrong": 0, "of": 0, "error": None}


def test_without_truth_nothing_is_said_about_it(without_truth: Path) -> None:
    record = strict(without_truth / "run.json")
    assert record["against_truth"] is None
    assert all(row["against_truth"] is None for row in [*record["rounds"], *record["per_class"]])


def test_held_out_counts_are_of_points_at_or_above_their_threshold(labelled: Labelled, without_truth: Path) -> None:
    points = wrong = 0
    for report in labelled.run.rounds:
        held_out = report.held_out
        for score, predicted, correct in zip(held_out.scores, held_out.predicted, held_out.correct, strict=True):
            if score >= report.thresholds[predicted]:
                points, wrong = points + 1, wrong + (not correct)
    counted = strict(without_truth / "run.json")["held_out_at_or_above_thresholds"]
    assert counted == {"wrong": wrong, "of": points, "error": wrong / points}


def test_truth_of_the_wrong_length_leaves_no_files(labelled: Labelled, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="400"):
        ls.write_report(labelled.run, tmp_path / "out", y_true=labelled.truth[:-1])
    assert not (tmp_path / "out").exists()


def test_a_failed_write_keeps_the_old_file(labelled: Labelled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "labels.csv").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        ls.write_report(labelled.run, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]
    assert (tmp_path / "labels.csv").read_text() == "old"


def test_written_again_the_files_are_the_same(labelled: Labelled, with_truth: Path, tmp_path: Path) -> None:
    ls.write_report(labelled.run, tmp_path, y_true=labelled.truth, title="Animals")
    for name in ("labels.csv", "run.json", "report.html"):
        assert (tmp_path / name).read_bytes() == (with_truth / name).read_bytes()


def test_names_outside_utf8_are_spelled_out(tmp_path: Path) -> None:
    """Names of files can hold bytes that are not UTF-8; Python shows them as lone surrogates."""
    found = label_blobs(["caf\udce9", "tea"])
    ls.write_report(found.run, tmp_path)
    assert "caf\\udce9" in (tmp_path / "labels.csv").read_text(encoding="utf-8")
    assert strict(tmp_path / "run.json")["classes"][0] == "caf\udce9"


def test_validation_given_up_front_is_counted_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size=300)
    x = rng.normal(size=(300, 2)) + 3 * codes[:, None]
    run = ls.autolabel(
        x[:200],
        ls.SimulatedAnnotator(codes[:200]),
        classes=2,
        train_budget=20,
        validation=(x[200:], codes[200:]),
        classifier="logistic",
        thresholds="paper",
        progress=False,
    )
    ls.write_report(run, tmp_path)
    record = strict(tmp_path / "run.json")
    assert record["validation_labels_given"] == 100
    assert record["human_labels"] == run.human_labels <= 20
    assert "100 held-out labels outside the pool" in (tmp_path / "report.html").read_text(encoding="utf-8")
