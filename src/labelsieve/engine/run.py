"""The outcome of a run: labels with their provenance, and how it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from labelsieve.data.classes import clean_label, label_list
from labelsieve.engine.entries import Role
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.state import HUMAN, MACHINE, LedgerState
from labelsieve.errors import DataError
from labelsieve.types import Array, Bools, Ints, Label, RoundReport

if TYPE_CHECKING:
    from labelsieve.audit import Audit

_NOT_A_CLASS = -1


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A run against the truth. ``error``: share of wrong machine labels, None if there are none."""

    error: float | None
    coverage: float
    per_class: pd.DataFrame
    per_round: pd.DataFrame
    wrong: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Run:
    """What ``autolabel`` returns. All of it follows from its ledger, which can be given back to continue the run."""

    _ledger: Ledger = field(repr=False)
    pool_ids: Array
    stop_reason: str
    settings: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        """Methods are those of the last round, whatever was said when the run was opened again."""
        last = self.rounds[-1].methods if self.rounds else None
        object.__setattr__(self, "settings", {**self.settings, **(last or {})})

    def __repr__(self) -> str:
        return (
            f"Run({self.pool_size:,} points: {self.machine_labels:,} labelled by machine ({self.coverage:.1%}), "
            f"{self.human_labels:,} by humans, in {len(self.rounds)} rounds; ended because {self.stop_reason})"
        )

    @property
    def _state(self) -> LedgerState:
        return self._ledger.state

    @cached_property
    def ledger(self) -> Ledger:
        """A copy of everything that happened: continuing from it leaves this run as it is."""
        return self._ledger.copy()

    @property
    def classes(self) -> list[Label]:
        """Class names in the order of their codes."""
        return list(self._state.classes)

    @property
    def rounds(self) -> list[RoundReport]:
        """One report per round."""
        return self._ledger.rounds

    @property
    def pool_size(self) -> int:
        """N_u: all points of the pool, those asked about included."""
        return self._state.n_pool

    @property
    def machine_labels(self) -> int:
        """How many points were labelled by machine."""
        return int((self._state.source == MACHINE).sum())

    @property
    def human_labels(self) -> int:
        """How many labels were asked for and answered, validation included."""
        return int((self._state.asked & (self._state.source == HUMAN)).sum())

    @property
    def coverage(self) -> float:
        """Machine-labelled points / pool size."""
        return self.machine_labels / self.pool_size

    @cached_property
    def labels(self) -> pd.DataFrame:
        """One row per labelled point of the pool: id, label, source, role, round, confidence, threshold."""
        state = self._state
        rows = np.flatnonzero(state.source[: state.n_pool])
        # Codes are looked up in an index of names: a column of strings made one by one takes most of a second.
        sources = pd.Index(["", "human", "machine"])
        roles = pd.Index(["machine", *(role.name.lower() for role in Role)])
        return pd.DataFrame(
            {
                "id": _names(self.pool_ids[rows]),
                "label": _names(self.classes).take(state.label[rows]),
                "source": sources.take(state.source[rows]),
                "role": roles.take(np.where(state.source[rows] == HUMAN, state.role[rows], 0)),
                "round": state.round_number[rows],
                "confidence": state.score[rows],
                "threshold": state.threshold[rows],
            }
        )

    def audit(self, annotator: Any, **settings: Any) -> Audit:
        """Ask about machine labels drawn at random until their error is certain; see ``labelsieve.audit.audit_run``."""
        from labelsieve.audit import audit_run

        return audit_run(self, annotator, **settings)

    def evaluate(self, y_true: Any) -> Evaluation:
        """Compare machine labels with the truth: labels by pool row, or a mapping from id to label."""
        state = self._state
        truth = self._truth_codes(y_true)
        rows = np.flatnonzero(state.source[: state.n_pool] == MACHINE)
        is_wrong = state.label[rows] != truth[rows]
        wrong = rows[is_wrong]
        numbers = [report.number for report in self.rounds]
        return Evaluation(
            error=float(is_wrong.mean()) if len(rows) else None,
            coverage=self.coverage,
            per_class=_error_by("label", self.classes, state.label[rows], is_wrong),
            per_round=_error_by("round", numbers, np.searchsorted(numbers, state.round_number[rows]), is_wrong),
            wrong=pd.DataFrame(
                {
                    "id": _names(self.pool_ids[wrong]),
                    "label": _names(self.classes).take(state.label[wrong]),
                    "round": state.round_number[wrong],
                    "confidence": state.score[wrong],
                }
            ),
        )

    def _truth_codes(self, y_true: Any) -> Ints:
        if isinstance(y_true, Mapping):
            y_true = [y_true.get(id_) for id_ in self.pool_ids.tolist()]
        labels = label_list(y_true)
        if len(labels) != self.pool_size:
            raise DataError(f"y_true must hold one label per point of the pool ({self.pool_size}); got {len(labels)}.")
        which, values = pd.factorize(np.fromiter(labels, dtype=object, count=len(labels)))
        if (which < 0).any():
            first = self.pool_ids[int((which < 0).argmax())].item()
            raise DataError(f"y_true has no label for {int((which < 0).sum())} points; the first is {first!r}.")
        codes = {name: code for code, name in enumerate(self._state.classes)}
        value_codes = np.array([codes.get(clean_label(value), _NOT_A_CLASS) for value in values])
        if (value_codes == _NOT_A_CLASS).all():
            raise DataError(
                f"y_true holds no label that is a class of this run: got {values[0]!r} ({type(values[0]).__name__}), "
                f"the classes are {self.classes[:5]}. Give it in the same form."
            )
        return np.asarray(value_codes[which])


def _names(values: Any) -> pd.Index[Any]:
    """As pandas keeps strings; or as objects where some are not UTF-8, as names of files need not be."""
    try:
        names: pd.Index[Any] = pd.Index(values)
    except UnicodeEncodeError:
        names = pd.Index(np.asarray(values, dtype=object), dtype=object)
    return names


def _error_by(column: str, values: list[Any], codes: Ints, wrong: Bools) -> pd.DataFrame:
    """Machine labels, wrong ones and their share for each value, values without machine labels included."""
    labelled, mistaken = (np.bincount(part, minlength=len(values)) for part in (codes, codes[wrong]))
    error = np.divide(mistaken, labelled, out=np.full(len(values), np.nan), where=labelled > 0)
    return pd.DataFrame({column: _names(values), "machine_labels": labelled, "wrong": mistaken, "error": error})
