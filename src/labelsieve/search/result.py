"""What a search found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.search.grids import Combination
from labelsieve.search.phases import Phase


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The chosen parameters, and everything that was measured.

    ``classifier`` and ``confidence`` carry them, ready for ``ls.autolabel(classifier=..., confidence=...)``.
    ``human_labels``: how many labels were asked for. ``fits``: how many trainings were done; those that the cache knew
    are not among them.
    """

    training: Phase
    post_hoc: Phase
    classifier: Classifier
    confidence: ConfidenceFunction
    tolerance: float
    seeds: tuple[int, ...]
    human_labels: int
    fits: int

    @property
    def training_parameters(self) -> Combination:
        """Of the classifier; those of its train-time method begin with ``training__``."""
        return dict(self.training.chosen)

    @property
    def confidence_parameters(self) -> Combination:
        return dict(self.post_hoc.chosen)

    @property
    def table(self) -> pd.DataFrame:
        """One row per phase and combination; the best first within a phase.

        Errors and coverages are means over seeds on the D_hyp points, with their standard deviations; an error is
        missing where nothing was labelled. ``failed`` counts seeds, as does ``fallbacks``, where softmax stood in for
        the confidence function.
        """
        phases = (self.training, self.post_hoc)
        rows = [row for phase in phases for row in sorted(self._rows(phase), key=self._rank)]
        parameters = dict.fromkeys(name for phase in phases for name in phase.chosen)
        measured = [name for name in rows[0] if name != "phase" and name not in parameters]
        columns: dict[str, Any] = {"phase": [row["phase"] for row in rows]}
        for name in parameters:  # as objects: 32 epochs stay a whole number where the other phase has none
            columns[name] = pd.Series([row.get(name) for row in rows], dtype=object)
        return pd.DataFrame(columns | {name: [row[name] for row in rows] for name in measured})

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        rows = self.table.to_dict(orient="records")
        return {
            "training_parameters": _all_plain(self.training_parameters),
            "confidence_parameters": _all_plain(self.confidence_parameters),
            "reasons": {phase.name: phase.choice.reason for phase in (self.training, self.post_hoc)},
            "tolerance": self.tolerance,
            "seeds": list(self.seeds),
            "human_labels": self.human_labels,
            "fits": self.fits,
            "table": [_all_plain(row) for row in rows],
        }

    def __repr__(self) -> str:
        lines = [f"SearchResult at tolerance {self.tolerance:g}, {len(self.seeds)} seeds:"]
        for phase in (self.training, self.post_hoc):
            outcome = phase.outcomes[phase.choice.winner]
            error = "no error, since nothing is labelled" if outcome.error is None else f"error {outcome.error:.2%}"
            lines.append(f"  {phase.name}: {phase.chosen or 'nothing to choose'}")
            lines.append(f"    coverage {outcome.coverage:.1%}, {error}; {phase.choice.reason}")
        lines.append(f"  {self.human_labels:,} labels asked for, {self.fits:,} fits done")
        return "\n".join(lines)

    def _rows(self, phase: Phase) -> list[dict[str, Any]]:
        return [
            {
                "phase": phase.name,
                **combination,
                "error": math.nan if outcome.error is None else outcome.error,
                "error_std": math.nan if outcome.error_spread is None else outcome.error_spread,
                "coverage": outcome.coverage,
                "coverage_std": math.nan if outcome.coverage_spread is None else outcome.coverage_spread,
                "seeds": len(outcome.measurements),
                "failed": sum(one.failure is not None for one in outcome.measurements),
                "fallbacks": sum(one.fallback is not None for one in outcome.measurements),
                "chosen": index == phase.choice.winner,
            }
            for index, (combination, outcome) in enumerate(zip(phase.combinations, phase.outcomes, strict=True))
        ]

    def _rank(self, row: dict[str, Any]) -> tuple[Any, ...]:
        """The chosen one, then as the rule would choose if those before were not there; failed ones last."""
        no_error = math.isnan(row["error"])
        within = not no_error and row["error"] <= self.tolerance
        return not row["chosen"], row["failed"], not within, no_error, -row["coverage"] if within else row["error"]


def _all_plain(values: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's, what is missing as None, other objects in words."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if value is None or isinstance(value, (str, int, float)) else repr(value)
