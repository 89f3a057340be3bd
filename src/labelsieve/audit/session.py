"""The audit: ask in batches until certain, at most so many; and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from labelsieve.annotators.base import as_annotator
from labelsieve.audit.answers import Answers
from labelsieve.audit.asking import ask
from labelsieve.audit.labels import LabelSet
from labelsieve.audit.plan import (
    BATCH_SIZE,
    DELTA,
    SEED,
    AuditPlan,
    check_count,
    check_labels,
    check_share,
    default_labels,
)
from labelsieve.audit.rollback import TestedUnion, Union, largest_kept, outward, unions_of
from labelsieve.audit.sampling import audit_order
from labelsieve.audit.slices import Slices, slices_of
from labelsieve.audit.verdict import Verdict
from labelsieve.errors import AnnotatorError
from labelsieve.types import Array, Bools, Ints, Label


class LabelledRun(Protocol):
    """What an audit needs of a run."""

    @property
    def labels(self) -> pd.DataFrame: ...

    @property
    def settings(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class Audit:
    """An audit as far as it has come. Everything follows from the labels, the plan and the answers.

    Answers count from the start of the random order up to the first gap. Who could leave out questions at will and be
    judged by the others could also steer the verdict; so answers after a gap wait until it is filled.
    """

    labels: LabelSet
    plan: AuditPlan
    slices: Slices | None
    answers: Answers

    @cached_property
    def order(self) -> Ints:
        """Positions of the machine labels in the order of asking."""
        return audit_order(len(self.labels), self.plan.seed)

    @cached_property
    def checked(self) -> Ints:
        """Positions whose answers count."""
        known = self.answers.labels
        # No more than len(known) can come before the first gap, and ids are looked at only as far as that.
        ids = self.labels.ids[self.order[: len(known)]].tolist()
        gap = next((place for place, id_ in enumerate(ids) if id_ not in known), len(ids))
        return self.order[:gap]

    @cached_property
    def human(self) -> list[Label]:
        """The answers for ``checked``."""
        return [self.answers.labels[id_] for id_ in self.labels.ids[self.checked].tolist()]

    @cached_property
    def wrong(self) -> Bools:
        """Which of ``checked`` the machine had wrong."""
        machine = self.labels.labels[self.checked].tolist()
        return np.array([a != b for a, b in zip(machine, self.human, strict=True)], dtype=bool)

    @cached_property
    def verdict(self) -> Verdict:
        """On all machine labels that remain."""
        plan = self.plan
        return Verdict(plan.total, len(self.checked), int(self.wrong.sum()), plan.tolerance, plan.whole_level)

    @property
    def certified(self) -> bool:
        """Whether all machine labels that remain are certified."""
        return self.verdict.certified

    @property
    def new_classes(self) -> list[Label]:
        """Answers that no label of the run has: classes it did not know, or slips of the pen."""
        return sorted(set(self.human) - self.labels.classes, key=str)

    @cached_property
    def unions(self) -> list[Union]:
        """The parts that may be tested in place of the whole, fixed by the plan."""
        return [] if self.slices is None else unions_of(self.slices.sizes(), self.plan)

    @cached_property
    def tested_unions(self) -> list[TestedUnion]:
        """The same with the answers so far."""
        if self.slices is None:
            return []
        of, n = self.slices.of[self.checked], len(self.slices.names)
        return outward(self.unions, np.bincount(of, minlength=n), np.bincount(of[self.wrong], minlength=n), self.plan)

    @property
    def rollback(self) -> TestedUnion | None:
        """The largest part that can be certified if the rest is taken back; None if the whole is, or no part can be."""
        return None if self.certified else largest_kept(self.tested_unions)

    def to_ask(self, n: int) -> Array:
        """Ids of the next ``n`` labels without an answer, in the audit's order."""
        known = self.answers.labels
        ids = self.labels.ids[self.order[: len(known) + n]].tolist()
        return np.asarray([id_ for id_ in ids if id_ not in known][:n])

    def rolled_back(self) -> Ints:
        """Positions that ``rollback`` would take back."""
        if self.rollback is None or self.slices is None:
            return np.empty(0, dtype=np.int64)
        outside = np.flatnonzero(self.slices.of > self.rollback.union.last)
        return np.setdiff1d(outside, self.checked, assume_unique=True)

    def corrected(self, *, rollback: bool = False) -> pd.DataFrame:
        """The labels after the audit: checked ones are human now (role audit), rolled-back ones are gone."""
        table = self.labels.table.copy()
        rows = table.index[self.labels.rows[self.checked]]
        if "role" not in table:
            table.insert(list(table).index("source") + 1, "role", table["source"])
        table.loc[rows, "label"] = self.human
        table.loc[rows, "source"] = "human"
        table.loc[rows, "role"] = "audit"
        for name in {"confidence", "threshold"} & set(table):  # they belonged to the machine's label
            table.loc[rows, name] = np.nan if table[name].dtype.kind == "f" else ""
        gone = self.labels.rows[self.rolled_back()] if rollback else np.empty(0, dtype=np.int64)
        return table.drop(index=table.index[gone]).reset_index(drop=True)

    def proceed(self, annotator: Any, *, max_labels: int | None = None, batch_size: int = BATCH_SIZE) -> Audit:
        """Ask in batches until the whole is certified or there are ``max_labels`` answers, earlier ones included.

        An audit that ended without a certificate can be continued like this with more labels. If the annotator fails,
        the error's ``ledger`` is the audit up to there.
        """
        answering = as_annotator(annotator)
        check_count("batch_size", batch_size, least=1)
        most = self.plan.planned_labels if max_labels is None else max_labels
        check_labels(most, self.plan.total)
        audit = self
        while not audit.certified and (n := min(batch_size, most - len(audit.answers))) > 0:
            try:
                answers = ask(answering, audit.to_ask(n), audit.labels, audit.answers)
            except AnnotatorError as error:
                error.ledger = replace(audit, answers=error.ledger)
                raise
            audit = replace(audit, answers=answers)
        return audit


def start(
    labels: LabelSet,
    *,
    tolerance: float,
    delta: float = DELTA,
    seed: int = SEED,
    max_labels: int | None = None,
    slices: str = "auto",
) -> Audit:
    """An audit before its first answer. Without anything to roll back, all of δ is for the statement on the whole."""
    total = len(labels)
    check_share("tolerance", tolerance, "0.05 rules out that more than 5 % of the remaining labels are wrong")
    check_share("delta", delta, "0.05 is a confidence of 95 %")
    planned = default_labels(total, tolerance, delta) if max_labels is None else max_labels
    plan = AuditPlan(total, float(tolerance), float(delta), seed, planned, slices)
    found = slices_of(labels, slices)
    if found is None or not unions_of(found.sizes(), plan):
        return Audit(labels, replace(plan, slices="none"), None, Answers())
    return Audit(labels, replace(plan, slices=found.kind), found, Answers())


def audit_table(
    table: pd.DataFrame,
    annotator: Any,
    *,
    tolerance: float,
    delta: float = DELTA,
    max_labels: int | None = None,
    batch_size: int = BATCH_SIZE,
    seed: int = SEED,
    slices: str = "auto",
) -> Audit:
    """Audit a table of labels in memory (id, label, source, …), such as ``run.labels``.

    tolerance, delta: at most this share of the machine labels that remain is to be wrong, at confidence 1 − delta.
    max_labels: ask for at most so many; None: enough for labels half as wrong as tolerated, if there are enough.
    batch_size: how many to ask for before looking whether that is enough.
    slices: what may be rolled back if not all can be certified: "scores", "rounds", "none", or "auto".
    """
    audit = start(
        LabelSet.of_table(table), tolerance=tolerance, delta=delta, seed=seed, max_labels=max_labels, slices=slices
    )
    return audit.proceed(annotator, batch_size=batch_size)


def audit_run(run: LabelledRun, annotator: Any, *, tolerance: float | None = None, **settings: Any) -> Audit:
    """Audit a run in memory, with its own tolerance unless another is given; settings as in ``audit_table``."""
    chosen = run.settings["tolerance"] if tolerance is None else tolerance
    return audit_table(run.labels, annotator, tolerance=chosen, **settings)
