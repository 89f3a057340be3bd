"""Certifying a part when the whole cannot be certified.

Slices S_1, S_2, … are ordered before any answer is seen, the safest first, and U_j = S_1 ∪ … ∪ S_j. K_j labels of the
N_j in U_j are wrong, a fixed number. The audit's random order, restricted to U_j, is a uniformly random order of U_j;
so the martingale of ``verdict.py``, fed with the answers inside U_j alone, is valid for U_j, however many there happen
to be: for each j, P(ever R_j(K_j) ≥ 1 / δ') ≤ δ'.

*Claims that do not depend on the sample.* Whether few of the *unchecked* labels of U_j are wrong depends on which were
checked, and arguments about the first false claim of a sequence need claims that do not. So each union gets a number
a_j, fixed beforehand, and the claim tested is K_j ≤ a_j: true or false, once and for all. U_j is *passed* at level β if
R_j(K') ≥ 1 / β for every K' > a_j; if the claim is false, that ever happens with probability β at most.

*One δ' for all unions together* (the fallback procedure of Wiens and Dmitrienko 2005). Of J unions, each brings a level
of δ' / J. They are tested from the safest outward. A union that is passed hands its level on to the next, which adds
its own; one that is not passed keeps it. So a sequence of passes is tested at ever higher levels, and an unlucky error
in the smallest union does not end it. Let j₁ < j₂ < … be the false claims. As long as none of those before j_i is
passed, what is handed on starts anew after j_(i−1), and j_i is tested at β_i = δ' (j_i − j_(i−1)) / J at most: a fixed
number. The first false claim that is passed, at whatever time, is one of them and has R(K) ≥ 1 / β_i: that ever happens
with probability Σ β_i ≤ δ' at most. Otherwise all claims that are passed, at any time, are true.

*From there to the labels that remain.* With m_j checked in U_j and k_j of them wrong, K_j ≤ a_j leaves a_j − k_j wrong
ones among N_j − m_j at most. U_j may be *kept* only if that is within the tolerance: a_j − k_j ≤ ε (N_j − m_j), a
condition on what is known. To have it hold, a_j = ⌊ε (N_j − m̂_j)⌋, where m̂_j is what the planned audit will check in
U_j, with two standard deviations to spare. A bad guess of m̂_j costs power; it cannot make a statement wrong.

*Where testing starts* is fixed beforehand, too: at the first union that would be passed at level δ' with one error
among as many labels as the planned audit will check in it. Smaller ones would take their share of δ' for nothing.

*Together with the statement about the whole*: that one has a δ of its own, and the two add up to the audit's. The whole
may be certified or a part, whichever the answers allow, at any time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labelsieve.audit.plan import AuditPlan
from labelsieve.bounds import anytime_evidence_of_total
from labelsieve.types import Ints


@dataclass(frozen=True)
class Union:
    """The slices 0 to ``last`` and the claim about them: at most ``allowed`` of their ``total`` labels are wrong."""

    last: int
    total: int
    allowed: int


@dataclass(frozen=True)
class TestedUnion:
    """A union with the answers inside it, and the level at which its claim is tested."""

    union: Union
    points: int
    errors: int
    tolerance: float
    level: float

    __test__ = False  # not a test of pytest's

    @property
    def evidence(self) -> float:
        """Logarithm of the evidence for the claim."""
        union = self.union
        return float(anytime_evidence_of_total(self.errors, self.points, union.total, union.allowed, self.tolerance))

    @property
    def passed(self) -> bool:
        """Whether the claim about the union counts as shown."""
        return self.evidence >= math.log(1 / self.level)

    @property
    def remaining(self) -> int:
        """Labels of the union that nobody checked."""
        return self.union.total - self.points

    @property
    def most_wrong(self) -> int:
        """How many of those can be wrong, if the claim is true."""
        return self.union.allowed - self.errors

    @property
    def keeps(self) -> bool:
        """Whether the claim puts the remaining labels within the tolerance."""
        return self.most_wrong <= math.floor(self.tolerance * self.remaining)


def unions_of(sizes: Sequence[int] | Ints, plan: AuditPlan) -> list[Union]:
    """The sequence to test, fixed by the plan and the sizes of the slices; the whole is not in it. May be empty."""
    if plan.slices == "none":
        return []
    unions: list[Union] = []
    for last, total in enumerate(np.cumsum(sizes)[:-1].tolist()):
        share = total / plan.total
        expected = plan.planned_labels * share
        spare = 2 * math.sqrt(expected * (1 - share))
        allowed = math.floor(plan.tolerance * max(0.0, total - expected - spare))
        evidence = anytime_evidence_of_total(1, math.floor(expected), total, allowed, plan.tolerance)
        if unions or evidence >= math.log(1 / plan.rollback_level):
            unions.append(Union(last, total, allowed))
    return unions


def outward(unions: Sequence[Union], checked: Ints, wrong: Ints, plan: AuditPlan) -> list[TestedUnion]:
    """The unions tested one after the other, what is passed handing on its level; counts are per slice."""
    points, errors = np.cumsum(checked).tolist(), np.cumsum(wrong).tolist()
    results: list[TestedUnion] = []
    handed_on = 0
    for union in unions:
        level = plan.rollback_level * (1 + handed_on) / len(unions)
        results.append(TestedUnion(union, points[union.last], errors[union.last], plan.tolerance, level))
        handed_on = handed_on + 1 if results[-1].passed else 0
    return results


def largest_kept(results: Sequence[TestedUnion]) -> TestedUnion | None:
    """The largest union that was passed and whose remaining labels are within the tolerance."""
    return next((result for result in reversed(results) if result.passed and result.keeps), None)
