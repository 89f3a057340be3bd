"""The audit of a run's output folder, over as many calls as it takes.

``audit.json`` holds what the audit is made of: its plan, and every answer so far. It is written before anything else is
made of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labelsieve.audit.answers import Answers, Contradiction
from labelsieve.audit.certificate import AUDITED_FILE, certificate, certificate_json
from labelsieve.audit.labels import LABELS_FILE, LabelSet, csv_bytes
from labelsieve.audit.page import certificate_html
from labelsieve.audit.plan import AuditPlan, check_labels
from labelsieve.audit.session import Audit, start
from labelsieve.audit.slices import slices_of
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.writing import utf8, write_atomically

STATE_FILE = "audit.json"
ROLLED_BACK_FILE = "rolled-back.csv"
CERTIFICATE_FILE, PAGE_FILE = "certificate.json", "certificate.html"
_FORMAT = "labelsieve audit"


@dataclass(frozen=True, eq=False)
class FolderAudit:
    """An audit and where it is kept.

    ``max_labels``: how many answers it may have; ``asked``: how far along the random order questions were written.
    """

    folder: Path
    audit: Audit
    max_labels: int
    asked: int = 0

    def save(self) -> None:
        """Write ``audit.json``."""
        audit = self.audit
        state = {
            "format": _FORMAT,
            "version": 1,
            "labels_sha256": audit.labels.sha256,
            "plan": asdict(audit.plan),
            "max_labels": self.max_labels,
            "asked": self.asked,
            "answers": [[id_, label] for id_, label in audit.answers.labels.items()],
            "contradictions": [vars(contradiction) for contradiction in audit.answers.contradictions],
        }
        text = json.dumps(state, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_atomically({self.folder / STATE_FILE: utf8(text)})

    def write(self, *, rollback: bool = False) -> list[Path]:
        """Write the labels after the audit and, if anything is certified, the certificate; returns the paths."""
        return write_audit(self.audit, self.folder, rollback=rollback)


def write_audit(audit: Audit, folder: Path, *, rollback: bool = False) -> list[Path]:
    """Write ``labels.audited.csv``, checked labels corrected, and if certified ``certificate.json`` and ``.html``.

    ``rollback``: where the whole is not certified and a part is, the rest is left out of ``labels.audited.csv`` and
    listed in ``rolled-back.csv``. ``labels.csv`` is never touched. A certificate from an earlier stage of the audit is
    replaced, or removed if there is none now: it was about another ``labels.audited.csv``.
    """
    part = rollback and audit.rollback is not None
    contents = {AUDITED_FILE: csv_bytes(audit.corrected(rollback=part))}
    if audit.certified or part:
        content = certificate(audit, rollback=part)
        contents[CERTIFICATE_FILE] = utf8(certificate_json(content))
        contents[PAGE_FILE] = utf8(certificate_html(content))
    if part:
        gone = audit.labels.table.iloc[audit.labels.rows[audit.rolled_back()]].sort_index()
        contents[ROLLED_BACK_FILE] = csv_bytes(gone)
    paths = {folder / name: content for name, content in contents.items()}
    write_atomically(paths)
    for name in {CERTIFICATE_FILE, PAGE_FILE, ROLLED_BACK_FILE} - contents.keys():
        (folder / name).unlink(missing_ok=True)
    return list(paths)


def open_folder(folder: Path, *, max_labels: int | None = None, **settings: Any) -> FolderAudit:
    """The audit of a folder: the one that was begun there, or a new one. Settings that are None are not given."""
    if not folder.is_dir():
        raise DataError(f"An audit needs the output folder of a run, with {LABELS_FILE} in it; {folder} is no folder.")
    labels = LabelSet.of_file(folder / LABELS_FILE)
    given = {name: value for name, value in settings.items() if value is not None}
    state = folder / STATE_FILE
    if state.exists():
        return _continued(folder, labels, _read_state(state), given, max_labels)
    if "tolerance" not in given:
        given["tolerance"] = _tolerance_of_run(folder)
    audit = start(labels, max_labels=max_labels, **given)
    return FolderAudit(folder, audit, audit.plan.planned_labels)


def _continued(
    folder: Path, labels: LabelSet, state: Mapping[str, Any], given: Mapping[str, Any], max_labels: int | None
) -> FolderAudit:
    if state["labels_sha256"] != labels.sha256:
        raise DataError(
            f"{folder / LABELS_FILE} has changed since its audit began, so the answers in {STATE_FILE} are not "
            f"about it. Restore the file; or move {STATE_FILE} away, which begins another audit."
        )
    plan = AuditPlan(**state["plan"])
    for name, value in given.items():
        fixed = getattr(plan, name)
        if value != fixed and not (name == "slices" and value == "auto"):
            raise ConfigurationError(
                f"{name} was fixed when this audit began, before its first answer: it is {fixed!r}, and {value!r} was "
                "given now. Leave it out to go on. Only the number of labels may grow."
            )
    contradictions = tuple(Contradiction(**entry) for entry in state["contradictions"])
    answers = Answers(dict(state["answers"]), contradictions)
    audit = Audit(labels, plan, slices_of(labels, plan.slices), answers)
    most = state["max_labels"] if max_labels is None else max_labels
    check_labels(most, plan.total)
    return FolderAudit(folder, audit, most, state["asked"])


def _read_state(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path} must be the state of an audit, in JSON; it is not: {error}.") from None
    if not isinstance(state, dict) or state.get("format") != _FORMAT or state.get("version") != 1:
        raise DataError(f"{path} must be the state of an audit; it is another file. Move it away to begin an audit.")
    return state


def _tolerance_of_run(folder: Path) -> float:
    try:
        tolerance = json.loads((folder / "run.json").read_text(encoding="utf-8"))["tolerance"]
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigurationError(
            f"An audit needs a tolerance; {folder / 'run.json'}, where the run's would stand, cannot be read. "
            "Give one, for example --tolerance 0.05."
        ) from None
    return tolerance  # type: ignore[no-any-return]  # checked with the other settings
