"""Numbers and sentences of an audit, as people read them."""

from __future__ import annotations

import math

from labelsieve.audit.session import Audit

METHOD = (
    "Uniform sampling without replacement, in one random order; prior–posterior-ratio martingale (Waudby-Smith and "
    "Ramdas 2020), beta-binomial prior with 1 and 2 / tolerance; valid at any stopping time."
)
ROLLBACK_METHOD = (
    " Rollback: nested unions of slices in an order fixed beforehand, tested from the safest outward by the fallback "
    "procedure (Wiens and Dmitrienko 2005), for which part of δ is set aside."
)
ASSUMPTIONS = (
    "The human answers of the audit are right. The seed was chosen without knowing which labels are wrong. The "
    "statement is about this label file, not about labels a model may give later."
)


def percent(share: float) -> str:
    """A share that was set, in full: a tolerance must not be rounded into another."""
    return f"{100 * share:.10g} %"


def percent_at_most(share: float) -> str:
    """A bound, rounded up to two decimals."""
    return f"{math.ceil(1e4 * share - 1e-9) / 100:g} %"


def promise(audit: Audit, *, rollback: bool = False) -> str:
    """The sentence of what is promised about what; only for what is certified."""
    plan = audit.plan
    part = audit.rollback if rollback else None
    remaining = part.remaining if part else audit.verdict.remaining
    if not remaining:
        return "Every machine label was checked, and none remains: there is nothing left to be wrong about."
    most = part.most_wrong if part else audit.verdict.most_wrong
    return (
        f"With confidence {percent(1 - plan.delta)}, at most {percent(plan.tolerance)} of the {remaining:,} machine "
        "labels that remain machine labels after this audit are wrong "
        f"(at most {most:,} of them, {percent_at_most(most / remaining)})."
    )


def found(audit: Audit) -> str:
    """What was checked and what turned up."""
    verdict = audit.verdict
    were = "was" if verdict.errors == 1 else "were"
    text = (
        f"{verdict.points:,} of {verdict.total:,} machine labels were drawn at random and checked by a human; "
        f"{verdict.errors:,} {were} wrong. All of these carry the human's answer now."
    )
    waiting = len(audit.answers) - verdict.points
    if waiting:
        text += f" {waiting:,} more answers count once those asked for before them are there."
    return text


def outlook(audit: Audit) -> str:
    """After an audit without a certificate: what would likely settle it."""
    verdict = audit.verdict
    likely = verdict.likely_more
    if likely is not None:
        return f"About {likely:,} more labels would likely settle it, if errors keep turning up at the rate seen."
    if verdict.rate is not None and verdict.rate > verdict.tolerance:
        return (
            f"More labels will likely not settle it: {100 * verdict.rate:.3g} % of those checked were wrong, which is "
            f"above the tolerance of {percent(verdict.tolerance)}."
        )
    return (
        "More labels will likely not settle it: at the rate seen, so few machine labels remain that checking more of "
        "them leaves ever less to be certain about. A larger tolerance, or checking all of them, would."
    )
