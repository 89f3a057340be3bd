"""The audit's promise, by repetition: how often is something certified that should not be?

A wrong certificate is counted if there is *any* look at which the audit would have certified although too many of the
remaining labels were wrong: so whoever stops at the worst moment, or goes on after a certificate, is covered.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from labelsieve.audit.labels import LabelSet
from labelsieve.audit.plan import AuditPlan
from labelsieve.audit.rollback import largest_kept, outward, unions_of
from labelsieve.audit.session import audit_table, start
from labelsieve.audit.verdict import Verdict, settled_at
from labelsieve.bounds import anytime_evidence, binomial_upper

REPETITIONS = 1_000


def within(violations: int, repetitions: int, delta: float) -> bool:
    """Whether so many are plausible (99.9 %) if each has a probability of delta at most."""
    return violations <= binom.ppf(0.999, repetitions, delta)


def errors_found(total: int, wrong: int, looks: np.ndarray, seed: int, repetitions: int = REPETITIONS) -> np.ndarray:
    """(repetitions, looks): wrong labels among the first n of a random order, for each look n."""
    rng = np.random.default_rng(seed)
    found = np.zeros((repetitions, len(looks)), dtype=np.int64)
    before, n = np.zeros(repetitions, dtype=np.int64), 0
    for place, look in enumerate(looks):
        before = before + rng.hypergeometric(wrong - before, total - wrong - (n - before), look - n)
        found[:, place], n = before, look
    return found


def ever_wrong(certified: np.ndarray, found: np.ndarray, wrong: int, total: int, looks: np.ndarray, tolerance: float):
    """Per repetition: was there a look that certified, with too many wrong among the remaining labels?"""
    return (certified & (wrong - found > tolerance * (total - looks))).any(axis=1)


@pytest.mark.parametrize("share", [0.97, "just above", 1.1, 1.5, 2.0])
@pytest.mark.parametrize(
    ("total", "tolerance", "delta", "batch"),
    [
        (200, 0.05, 0.05, 1),
        (200, 0.2, 0.1, 5),
        (1_000, 0.05, 0.05, 1),
        (1_000, 0.1, 0.2, 10),
        (5_000, 0.01, 0.1, 25),
        (20_000, 0.05, 0.05, 25),
        (20_000, 0.01, 0.2, 50),
    ],
)
def test_sequential_audit_with_optional_stopping(total, tolerance, delta, batch, share):
    looks = np.arange(batch, min(total, 2_000) + 1, batch)
    wrong = int(tolerance * total) + 1 if share == "just above" else int(share * tolerance * total)
    found = errors_found(total, wrong, looks, seed=total + wrong)
    certified = anytime_evidence(found, looks, total, tolerance) >= np.log(1 / delta)
    violations = int(ever_wrong(certified, found, wrong, total, looks, tolerance).sum())
    print(f"N={total} eps={tolerance} delta={delta} K={wrong}: {violations / REPETITIONS:.3f} wrongly certified")
    assert within(violations, REPETITIONS, delta)


@pytest.mark.parametrize(("total", "tolerance", "delta"), [(200, 0.1, 0.1), (1_000, 0.05, 0.05), (20_000, 0.05, 0.1)])
def test_bound_holds_at_all_times(total, tolerance, delta):
    """The bound on the remaining errors, read after every batch, whatever the error rate is."""
    looks = np.arange(40, min(total, 400) + 1, 60)
    rng = np.random.default_rng(5)
    violations = 0
    for wrong in rng.integers(0, int(3 * tolerance * total), 500).tolist():
        found = errors_found(total, wrong, looks, seed=wrong, repetitions=1)[0]
        most = [Verdict(total, n, k, tolerance, delta).most_wrong for n, k in zip(looks, found.tolist(), strict=True)]
        violations += bool((wrong - found > most).any())
    assert within(violations, 500, delta)


def bands(shares: list[float], size: int) -> np.ndarray:
    """Labels in equal bands, the safest first: True where wrong."""
    return np.concatenate([np.arange(size) < round(share * size) for share in shares])


def spread(total: int, plan: AuditPlan, sizes: list[int], extra: int) -> np.ndarray:
    """Each union has exactly as many wrong as its claim allows, and ``extra``: the worst case of the sequence."""
    wrong = np.zeros(total, dtype=bool)
    edges = np.cumsum([0, *sizes])
    for union in unions_of(sizes, plan):
        missing = union.allowed + extra - int(wrong[: union.total].sum())
        start_of_slice = edges[union.last]
        wrong[start_of_slice : start_of_slice + max(0, missing)] = True
    return wrong


ROLLBACKS = {
    "last bands bad": (2_000, 0.05, 0.1, 500, [0.01] * 7 + [0.1, 0.2, 0.4]),
    "middle band bad": (2_000, 0.05, 0.1, 400, [0.01] * 5 + [0.3] + [0.01] * 4),
    "first band bad": (2_000, 0.1, 0.2, 300, [0.6] + [0.07] * 9),
    "anti-correlated": (5_000, 0.05, 0.1, 600, np.linspace(0.12, 0.01, 10).tolist()),
    "all just above": (20_000, 0.05, 0.2, 600, [0.051] * 10),
    "half at the edge": (20_000, 0.05, 0.2, 600, [0.045] * 6 + [0.12] * 4),
    "claims just false, careless": (20_000, 0.05, 0.9, 600, 1),
    "small": (200, 0.2, 0.2, 80, [0.1] * 5 + [0.5] * 5),
    "claims just true": (5_000, 0.05, 0.2, 500, 0),
    "claims just false": (5_000, 0.05, 0.2, 500, 1),
    "claims just false, large": (20_000, 0.05, 0.2, 600, 1),
}


@pytest.mark.parametrize("name", ROLLBACKS)
def test_whole_and_rollback_together(name):
    """Whole or part, at whichever look: all wrong certificates of one audit together stay below its delta."""
    total, tolerance, delta, labels, shares = ROLLBACKS[name]
    plan = AuditPlan(total, tolerance, delta, 0, labels, "scores")
    size = total // 10
    sizes = [size] * 10
    of = np.repeat(np.arange(10), size)
    wrong = bands(shares, size) if isinstance(shares, list) else spread(total, plan, sizes, shares)
    unions = unions_of(sizes, plan)
    rng = np.random.default_rng(11)
    repetitions, violations, false_claims, offers, kept = 500, 0, 0, 0, 0
    before = np.cumsum(np.bincount(of[wrong], minlength=10))
    looks = np.linspace(labels / 4, labels, 4).astype(int).tolist()
    for _ in range(repetitions):
        order = rng.choice(total, labels, replace=False)
        violated, false, part = False, False, None
        for n in looks:
            drawn = order[:n]
            checked = np.bincount(of[drawn], minlength=10)
            found = np.bincount(of[drawn][wrong[drawn]], minlength=10)
            verdict = Verdict(total, n, int(found.sum()), tolerance, plan.whole_level)
            violated |= verdict.certified and wrong.sum() - found.sum() > tolerance * verdict.remaining
            results = outward(unions, checked, found, plan)
            false |= any(result.passed and before[result.union.last] > result.union.allowed for result in results)
            part = largest_kept(results)
            if part is not None:
                left = wrong[: part.union.total].sum() - part.errors
                violated |= bool(left > tolerance * part.remaining)
        violations += violated
        false_claims += false
        offers += part is not None
        kept += part.union.total / total if part is not None else 0
    print(
        f"{name}: {violations / repetitions:.3f} wrong (delta {delta}), false claims passed "
        f"{false_claims / repetitions:.3f} (delta {plan.rollback_level:.3g}); rollback offered in "
        f"{offers / repetitions:.2f}, keeping {kept / max(1, offers):.2f} of the labels; "
        f"starts at slice {unions[0].last + 1 if unions else None}"
    )
    assert within(false_claims, repetitions, plan.rollback_level)
    assert within(violations, repetitions, delta)
    if name == "last bands bad":
        assert offers > 0.3 * repetitions  # not vacuous


def test_whole_way_with_real_audits():
    """Through the public call: 500 seeds, score bands, the worst of them beyond repair."""
    rng = np.random.default_rng(3)
    total, tolerance, delta = 1_500, 0.1, 0.1
    scores = rng.random(total)
    wrong = rng.random(total) < np.where(scores < 0.2, 0.5, 0.02)
    truth = np.where(wrong, 1, 0)
    table = pd.DataFrame(
        {"id": np.arange(total), "label": 0, "source": "machine", "confidence": scores, "threshold": 0.0}
    )
    violations, parts = 0, 0
    for seed in range(500):
        audit = audit_table(table, lambda ids: truth[ids], tolerance=tolerance, delta=delta, max_labels=250, seed=seed)
        after = audit.corrected(rollback=True)
        machine = after.loc[after["source"] == "machine", "id"].to_numpy()
        if audit.certified or audit.rollback:
            violations += bool(wrong[machine].mean() > tolerance)
            parts += audit.rollback is not None
    print(f"{violations} of 500 wrong, {parts} by rollback")
    assert parts > 50
    assert within(violations, 500, delta)


def test_the_harness_has_teeth():
    """A bound for a fixed n, looked at after every label, is broken far too often."""
    total, tolerance, delta = 5_000, 0.05, 0.05
    looks = np.arange(1, 1_001)
    wrong = int(tolerance * total) + 1
    found = errors_found(total, wrong, looks, seed=1)
    naive = binomial_upper(found, looks, delta) <= tolerance
    violations = int(ever_wrong(naive, found, wrong, total, looks, tolerance).sum())
    print(f"peeking at Clopper–Pearson: {violations / REPETITIONS:.3f} wrongly certified at delta {delta}")
    assert not within(violations, REPETITIONS, delta)


def test_teeth_for_rollback():
    """Keeping the largest union that looks good enough is wrong far too often."""
    total, tolerance, labels = 5_000, 0.05, 500
    wrong = bands([0.052] * 10, total // 10)
    rng = np.random.default_rng(2)
    violations = 0
    for _ in range(500):
        drawn = rng.choice(total, labels, replace=False)
        edges = [edge for edge in range(500, total + 1, 500) if wrong[drawn[drawn < edge]].mean() <= tolerance]
        violations += bool(edges) and bool(wrong[np.setdiff1d(np.arange(edges[-1]), drawn)].mean() > tolerance)
    assert not within(violations, 500, 0.2)


@pytest.mark.parametrize(("tolerance", "most"), [(0.1, 45), (0.05, 90), (0.01, 450)])
def test_labels_needed_without_errors(tolerance, most):
    needed = settled_at(20_000, tolerance, 0.05, 0.0)
    print(f"tolerance {tolerance}: {needed} labels without an error, at delta 0.05 and N = 20,000")
    assert needed <= most


def test_a_million_labels_in_a_second():
    total = 10**6
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"id": np.arange(total), "label": 0, "source": "machine", "confidence": rng.random(total), "threshold": 0.0}
    )
    labels = LabelSet(table)
    started = time.process_time()
    audit = start(labels, tolerance=0.05).proceed(lambda ids: [0] * len(ids))
    assert audit.verdict.most_wrong <= 0.05 * audit.verdict.remaining
    assert Verdict(total, 600, 20, 0.05, 0.05).likely_more > 0
    seconds = time.process_time() - started
    print(f"{seconds:.2f} s for {total:,} labels")
    assert audit.certified
    assert seconds < 1
