"""``run.json``: what was run, with what, and what came of it, for programs to read."""

from __future__ import annotations

import json
import math
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import labelsieve
from labelsieve.engine.run import Run
from labelsieve.reports.summary import ClassSummary, RoundSummary, Summary, Wrong
from labelsieve.types import Floats

_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy", "torch")


def record_json(run: Run, summary: Summary, title: str) -> str:
    """Strict JSON: no NaN and no infinity; a class without a threshold has null."""
    record = {
        "title": title,
        "versions": versions(),
        "seed": run.settings["random_state"],
        "settings": settings(run),
        "classes": run.classes,
        "pool_size": summary.pool_size,
        "machine_labels": summary.machine,
        "human_labels": summary.human,
        "validation_labels_given": summary.given_validation,
        "unlabelled": summary.left,
        "coverage": summary.coverage,
        "tolerance": summary.tolerance,
        "stop_reason": run.stop_reason,
        "held_out_at_or_above_thresholds": _wrong(summary.held_out),
        "against_truth": None if summary.truth is None else _wrong(summary.truth),
        "rounds": [_round(row) for row in summary.rounds],
        "per_class": [_class(row) for row in summary.classes],
    }
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def settings(run: Run) -> dict[str, Any]:
    """The run's settings; descriptions of methods, which may span lines, on one line."""
    return {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in run.settings.items()}


def versions() -> dict[str, str]:
    """Versions of what computed the run, as installed; nothing is imported to find out."""
    found = {"labelsieve": labelsieve.__version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _round(row: RoundSummary) -> dict[str, Any]:
    report = row.report
    return {
        "round": report.number,
        "train_points": report.train_points,
        "calibration_points": report.calibration_points,
        "threshold_points": report.threshold_points,
        "machine_labelled": report.machine_labelled,
        "retired_validation": report.retired_validation,
        "remaining": report.remaining,
        "queried_next": report.queried_next,
        "model_fingerprint": report.model_fingerprint,
        "confidence_fallback": report.confidence_fallback,
        "confidence_choice": report.confidence_choice,
        "expected_machine_labels": report.expected_machine_labels,
        "seconds": report.seconds,
        "coverage_so_far": row.coverage_so_far,
        "thresholds": _finite(report.thresholds),
        "held_out_at_or_above_thresholds": _wrong(row.held_out),
        "against_truth": None if row.truth is None else _wrong(row.truth),
    }


def _class(row: ClassSummary) -> dict[str, Any]:
    return {
        "class": row.name,
        "human_labels": row.human,
        "machine_labels": row.machine,
        "held_out_at_or_above_thresholds": _wrong(row.held_out),
        "against_truth": None if row.truth is None else _wrong(row.truth),
    }


def _wrong(count: Wrong) -> dict[str, Any]:
    return {"wrong": count.wrong, "of": count.of, "error": count.share}


def _finite(values: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]
