"""How often each rule breaks its tolerance: ``python -m benchmarks.guarantees DATA [RULE ...]``.

Whole runs with a fast classifier, 100 seeds each, tolerance 5 %, δ = 5 %. DATA holds mnist and newsgroups20. Each case
is written to ``guarantees.json`` as soon as it is done, and the table of docs/guarantees.md from that.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import labelsieve as ls
from benchmarks.document import document
from labelsieve.errors import LabelsieveWarning

SEEDS, TOLERANCE = 100, 0.05
RULES: dict[str, dict[str, str]] = {
    "certified": {"thresholds": "certified"},
    "folds": {"thresholds": "certified", "validation_reuse": "folds"},
    "paper": {"thresholds": "paper"},
}
IN_WORDS = {"certified": "`certified`", "folds": "`certified`, folds", "paper": "`paper`"}
RESULTS = Path(__file__).with_name("guarantees.json")
DOCUMENT = Path(__file__).parents[1] / "docs" / "guarantees.md"
Problem = tuple[np.ndarray, np.ndarray, int, int]


def problems(data: Path) -> dict[str, Problem]:
    """Points, labels, training budget and validation budget."""
    digits = load_digits()
    news = np.load(data / "newsgroups20" / "minilm.npz")
    mnist = np.load(data / "mnist" / "mnist.npz")
    pixels = mnist["x_train"][:12_000].reshape(12_000, -1) / 255.0
    components = PCA(40, random_state=0).fit_transform(pixels).astype(np.float32)
    return {
        "digits": (digits.data, digits.target, 200, 400),
        "20 Newsgroups, MiniLM": (news["x_train"].astype(np.float32), news["y_train"].astype(int), 2000, 1600),
        "12,000 of MNIST, 40 components": (components, mnist["y_train"][:12_000].astype(int), 1000, 1000),
    }


def measured(problem: Problem, rule: str) -> dict[str, Any]:
    """Coverage and error of each seed; the error is None where nothing is labelled."""
    x, y, train, validation = problem
    found = [
        ls.autolabel(
            x, ls.SimulatedAnnotator(y), classes=int(y.max()) + 1, train_budget=train, validation_budget=validation,
            batch_size=int(0.3 * train), classifier="logistic", tolerance=TOLERANCE, random_state=seed,
            stop_early=False, progress=False, **RULES[rule],
        ).evaluate(y)
        for seed in range(SEEDS)
    ]  # fmt: skip
    return {
        "labels": [train, validation],
        "coverages": [round(run.coverage, 5) for run in found],
        "errors": [None if run.error is None else round(run.error, 5) for run in found],
        "version": ls.__version__,
    }


def table(results: dict[str, dict[str, Any]]) -> str:
    versions = sorted({case["version"] for rules in results.values() for case in rules.values()})
    lines = [
        f"Run with version {' and '.join(versions)}.",
        "",
        "| data | labels to train and check | rule | error above 5 % | coverage | mean error | worst error |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, rules in results.items():
        for rule, case in rules.items():
            errors = [error for error in case["errors"] if error is not None]
            broken, (train, validation) = sum(error > TOLERANCE for error in errors), case["labels"]
            lines.append(
                f"| {name} | {train:,} + {validation:,} | {IN_WORDS[rule]} | {broken} of {len(case['errors'])} | "
                f"{mean(case['coverages']):.1%} | {mean(errors or [0]):.2%} | {max(errors, default=0):.2%} |"
            )
    return "\n".join(lines)


def main() -> None:
    warnings.simplefilter("ignore", LabelsieveWarning)
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name, problem in problems(Path(sys.argv[1])).items():
        for rule in sys.argv[2:] or RULES:
            results.setdefault(name, {})[rule] = measured(problem, rule)
            RESULTS.write_text(json.dumps(results) + "\n", encoding="utf-8")
            print(table({name: {rule: results[name][rule]}}).splitlines()[-1], flush=True)
    DOCUMENT.write_text(
        document(DOCUMENT.read_text(encoding="utf-8"), {"whole runs": table(results)}), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
