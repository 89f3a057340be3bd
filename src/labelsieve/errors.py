"""Every exception labelsieve raises on purpose.

LabelsieveError
├── ConfigurationError (ValueError)       a setting that cannot work; nothing was asked or trained
│   └── UnknownMethodError                a method name that is not registered; lists the known ones
├── DataError (ValueError)                the pool or the validation data cannot be used as they are
├── LabelError (ValueError)               a label that is missing or is not one of the classes
├── AnnotatorError (RuntimeError)         the annotator failed; ``.ledger`` holds all that was answered
├── OneClassError (RuntimeError)          every answer names the same class; ``.ledger`` as above
├── SplitReuseError (RuntimeError)        a held-out point was about to serve two purposes
├── LedgerError (RuntimeError)            an entry contradicts what the ledger already holds
├── SearchError (RuntimeError)            no combination of a hyper-parameter search works
├── ProjectError (RuntimeError)           a project cannot be opened, made or written to
├── AnswersUsedError (RuntimeError)       an answer came too late: a run has used what others said
├── HumansNeeded (RuntimeError)           labels are asked for that nobody has given yet
└── NotFittedError (RuntimeError)         a method was used before ``fit``

LabelsieveWarning (UserWarning)
├── UnseenClassWarning                    a class has no training label yet, so no machine label either
├── CalibrationWarning                    too little to learn a confidence function from; softmax is used instead
└── SmallerBatchWarning                   a device ran out of memory; less is done at once

Each message says what was expected, what was found and what to do about it.
"""

from __future__ import annotations

from typing import Any


class LabelsieveError(Exception):
    """Base of all errors raised on purpose."""


class ConfigurationError(LabelsieveError, ValueError):
    """A setting that cannot work."""


class UnknownMethodError(ConfigurationError):
    """A method name that is not registered."""


class DataError(LabelsieveError, ValueError):
    """Pool or validation data that cannot be used as they are."""


class LabelError(LabelsieveError, ValueError):
    """A label that is missing or is not one of the classes."""


class _WithLedger(LabelsieveError, RuntimeError):
    """Carries the ledger, so that ``autolabel(..., ledger=error.ledger)`` goes on where it stopped."""

    def __init__(self, message: str, ledger: Any = None) -> None:
        super().__init__(message)
        self.ledger = ledger


class AnnotatorError(_WithLedger):
    """The annotator raised, or its answer could not be used."""


class OneClassError(_WithLedger):
    """Every answer names the same class, so there is nothing to tell apart."""


class SplitReuseError(LabelsieveError, RuntimeError):
    """A held-out point was about to serve two purposes."""


class LedgerError(LabelsieveError, RuntimeError):
    """An entry contradicts what the ledger already holds."""


class SearchError(LabelsieveError, RuntimeError):
    """No combination of a hyper-parameter search works."""


class ProjectError(LabelsieveError, RuntimeError):
    """A project cannot be opened, made or written to."""


class AnswersUsedError(LabelsieveError, RuntimeError):
    """An answer came too late: a run has used what others said."""


class HumansNeeded(LabelsieveError, RuntimeError):
    """Labels are asked for that nobody has given yet."""

    def __init__(self, n: int) -> None:
        super().__init__(f"{n:,} labels are needed from people.")
        self.n = n


class NotFittedError(LabelsieveError, RuntimeError):
    """A method was used before ``fit``."""


class LabelsieveWarning(UserWarning):
    """Base of all warnings."""


class UnseenClassWarning(LabelsieveWarning):
    """A class has no training label yet."""


class CalibrationWarning(LabelsieveWarning):
    """Too little to learn a confidence function from."""


class SmallerBatchWarning(LabelsieveWarning):
    """A device ran out of memory; less is done at once."""
