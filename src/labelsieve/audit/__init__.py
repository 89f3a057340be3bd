"""Checking machine labels at random, and a certificate for those that remain.

``audit_run(run, annotator)`` or ``audit_table(table, annotator)`` ask until certain; ``write_audit`` puts the corrected
labels and the certificate into a folder; ``verify`` checks a certificate. What is promised, and why it holds, is argued
in ``verdict.py`` (all remaining machine labels) and ``rollback.py`` (a part of them).
"""

from labelsieve.audit.answers import Answers, Contradiction
from labelsieve.audit.certificate import certificate
from labelsieve.audit.folder import FolderAudit, open_folder, write_audit
from labelsieve.audit.session import Audit, audit_run, audit_table
from labelsieve.audit.verdict import Verdict
from labelsieve.audit.verify import verify

__all__ = [
    "Answers",
    "Audit",
    "Contradiction",
    "FolderAudit",
    "Verdict",
    "audit_run",
    "audit_table",
    "certificate",
    "open_folder",
    "verify",
    "write_audit",
]
