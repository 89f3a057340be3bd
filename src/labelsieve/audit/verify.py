"""Checking a certificate: the files it is about, and every number in it."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from labelsieve.audit.answers import Answers
from labelsieve.audit.certificate import AUDITED_FILE, FORMAT, VERSION, certificate
from labelsieve.audit.labels import LABELS_FILE, LabelSet, read_table
from labelsieve.audit.plan import AuditPlan
from labelsieve.audit.session import Audit
from labelsieve.audit.slices import slices_of
from labelsieve.audit.verdict import Verdict
from labelsieve.errors import DataError, LabelsieveError

_NOT_RECOMPUTED = {"date", "labelsieve", "method", "assumptions", "contradictions"}


def verify(path: str | Path) -> list[str]:
    """What is wrong with a certificate, one sentence each; nothing if it holds.

    The label files beside it must be those it was issued for. Then the audit is done again from them — who was drawn,
    whose label was changed, what follows — and compared with what the certificate says.
    """
    path = Path(path)
    claimed = _read(path)
    problems = _changed_files(claimed, path.parent)
    try:
        problems += _count_problems(claimed)
        if not problems:
            problems += _recomputed_problems(claimed, path.parent)
    except (KeyError, TypeError, ValueError, LabelsieveError) as error:
        problems.append(f"The certificate cannot be recomputed from its files ({type(error).__name__}): {error}")
    return problems


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(
            f"A certificate is a file such as certificate.json; {path} cannot be read: {error.strerror or error}."
        ) from None
    except ValueError as error:
        raise DataError(f"A certificate is a JSON file; {path} is not: {error}.") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        raise DataError(
            f"{path} must be a certificate that labelsieve audit wrote ({FORMAT!r}, version {VERSION}). "
            "Give the path of certificate.json."
        )
    return content


def _changed_files(claimed: dict[str, Any], folder: Path) -> list[str]:
    problems = []
    recorded = claimed.get("files")
    for name in (LABELS_FILE, AUDITED_FILE):
        expected = recorded.get(name) if isinstance(recorded, dict) else None
        if not (folder / name).is_file():
            problems.append(f"{name} is not beside the certificate, so nobody can tell whether it is the same file.")
        elif (found := hashlib.sha256((folder / name).read_bytes()).hexdigest()) != expected:
            problems.append(
                f"{name} is not the file the certificate was issued for: its SHA-256 is {found[:12]}… and should be "
                f"{str(expected)[:12]}…. Audit the labels as they are now, or restore the file."
            )
    return problems


def _count_problems(claimed: dict[str, Any]) -> list[str]:
    """What the counts alone show, also when the files are gone. Parts are recomputed with the files only."""
    whole = claimed["whole"]
    verdict = Verdict(
        claimed["machine_labels"], claimed["checked"], claimed["errors"], claimed["tolerance"], whole["delta"]
    )
    if whole["delta"] > claimed["delta"]:
        return [f"The statement on all labels uses a delta of {whole['delta']}, above the {claimed['delta']} promised."]
    if not whole["certified"] and claimed["rollback"]:
        return []
    if not verdict.certified:
        return [
            f"The counts do not support the promise: {verdict.errors:,} wrong of {verdict.points:,} checked, out of "
            f"{verdict.total:,}, give evidence {verdict.evidence:.2f}, and {verdict.needed:.2f} is needed."
        ]
    return []


def _recomputed_problems(claimed: dict[str, Any], folder: Path) -> list[str]:
    audit = _audit_again(claimed, folder)
    again = certificate(audit, rollback=claimed["rollback"] is not None)
    return [
        f"The certificate says {name} = {claimed.get(name)!r}; the files give {again[name]!r}."
        for name in again
        if name not in _NOT_RECOMPUTED and not _same(again[name], claimed.get(name))
    ]


def _audit_again(claimed: dict[str, Any], folder: Path) -> Audit:
    """The audit with its answers as they stand in the audited file."""
    labels = LabelSet.of_file(folder / LABELS_FILE)
    settings = {name: claimed[name] for name in ("tolerance", "delta", "seed", "planned_labels", "slices")}
    plan = AuditPlan(total=len(labels), **settings)
    audit = Audit(labels, plan, slices_of(labels, plan.slices), Answers())
    audited = read_table((folder / AUDITED_FILE).read_bytes(), folder / AUDITED_FILE)
    drawn = labels.ids[audit.order[: claimed["checked"]]].tolist()
    by_human = audited[(audited["source"] == "human") & audited["id"].isin(drawn)]
    answers = dict(zip(by_human["id"].tolist(), by_human["label"].tolist(), strict=True))
    return replace(audit, answers=Answers(answers))


def _same(left: Any, right: Any) -> bool:
    """Equal, with the last digits of a float left open: another machine may round them differently."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, float) and isinstance(right, (int, float)):
        return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-9)
    return bool(left == right)
