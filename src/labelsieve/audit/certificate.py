"""The certificate: what is promised, from which counts, about which file; and checking one."""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from labelsieve.audit import wording
from labelsieve.audit.labels import LABELS_FILE, csv_bytes
from labelsieve.audit.rollback import TestedUnion
from labelsieve.audit.session import Audit
from labelsieve.errors import ConfigurationError

FORMAT = "labelsieve audit certificate"
VERSION = 1
AUDITED_FILE = "labels.audited.csv"


def certificate(audit: Audit, *, rollback: bool = False) -> dict[str, Any]:
    """What goes into ``certificate.json``: plain values, no NaN and no infinity.

    ``rollback``: if the whole is not certified, certify the part that can be, the rest having been taken back.
    """
    part = audit.rollback if rollback and not audit.certified else None
    if not audit.certified and part is None:
        raise ConfigurationError(
            "A certificate is for labels that passed their audit; these have not"
            + (" (a part has: use rollback)." if audit.rollback else f". {wording.outlook(audit)}")
        )
    plan, verdict = audit.plan, audit.verdict
    table = audit.corrected(rollback=part is not None)
    remaining = part.remaining if part else verdict.remaining
    most = part.most_wrong if part else verdict.most_wrong
    return {
        "format": FORMAT,
        "version": VERSION,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "labelsieve": _installed_version(),
        "promise": wording.promise(audit, rollback=part is not None),
        "found": wording.found(audit),
        "method": wording.METHOD + (wording.ROLLBACK_METHOD if plan.slices != "none" else ""),
        "assumptions": wording.ASSUMPTIONS,
        "tolerance": plan.tolerance,
        "delta": plan.delta,
        "seed": plan.seed,
        "planned_labels": plan.planned_labels,
        "slices": plan.slices,
        "machine_labels": verdict.total,
        "checked": verdict.points,
        "errors": verdict.errors,
        "whole": {
            "certified": verdict.certified,
            "delta": verdict.level,
            "evidence": finite(verdict.evidence),
            "evidence_needed": verdict.needed,
            "most_wrong": verdict.most_wrong,
            "bound": verdict.bound,
        },
        "rollback": None if part is None else _rollback(audit, part),
        "remaining": remaining,
        "most_wrong": most,
        "bound": most / remaining if remaining else 0.0,
        "all_labels": len(table),
        "bound_on_all_labels": most / len(table) if len(table) else 0.0,
        "contradictions": [vars(contradiction) for contradiction in audit.answers.contradictions],
        "files": {
            LABELS_FILE: audit.labels.sha256,
            AUDITED_FILE: hashlib.sha256(csv_bytes(table)).hexdigest(),
        },
    }


def certificate_json(content: dict[str, Any]) -> str:
    """Strict JSON."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: float) -> float | None:
    """JSON has no infinity; None stands for evidence without end, when nothing remains unchecked."""
    return value if math.isfinite(value) else None


def _installed_version() -> str:
    try:
        return version("labelsieve")
    except PackageNotFoundError:  # run from a folder of sources
        return "unknown"


def _rollback(audit: Audit, part: TestedUnion) -> dict[str, Any]:
    assert audit.slices is not None  # there is no part without slices
    names = audit.slices.names
    return {
        "delta": audit.plan.rollback_level,
        "taken_back": len(audit.rolled_back()),
        "slices_kept": list(names[: part.union.last + 1]),
        "slices_taken_back": list(names[part.union.last + 1 :]),
        "tested": [
            {
                "slices": result.union.last + 1,
                "labels": result.union.total,
                "most_wrong_claimed": result.union.allowed,
                "checked": result.points,
                "errors": result.errors,
                "evidence": finite(result.evidence),
                "delta": result.level,
                "passed": result.passed,
                "within_tolerance": result.keeps,
            }
            for result in audit.tested_unions
        ],
    }
