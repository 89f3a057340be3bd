"""What an audit leaves in a folder, and how to get rid of it."""

from __future__ import annotations

from pathlib import Path

from labelsieve.audit.certificate import AUDITED_FILE
from labelsieve.audit.folder import CERTIFICATE_FILE, PAGE_FILE, ROLLED_BACK_FILE, STATE_FILE
from labelsieve.audit.questions import QUESTIONS_FILE


def forget_audit(folder: Path) -> None:
    """Remove all files of an audit, for labels that are no longer there."""
    for name in (STATE_FILE, QUESTIONS_FILE, AUDITED_FILE, ROLLED_BACK_FILE, CERTIFICATE_FILE, PAGE_FILE):
        (folder / name).unlink(missing_ok=True)
