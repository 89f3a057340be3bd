"""labelsieve: label a large dataset with few human labels, and know how wrong the machine labels can be.

Nothing is imported until it is used, so the command line answers at once and torch is loaded only for networks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelsieve import annotators, audit, classifiers, confidence, errors, executors, planner, queries, thresholds
    from labelsieve.annotators import SimulatedAnnotator
    from labelsieve.data.pool import Pool
    from labelsieve.engine.autolabel import autolabel, autolabel_many
    from labelsieve.engine.ledger import Ledger
    from labelsieve.engine.looking import image_features
    from labelsieve.engine.run import Evaluation, Run
    from labelsieve.reports.files import write_report
    from labelsieve.search.searching import search
    from labelsieve.types import Outputs, RoundReport

__version__ = "0.6.0"

__all__ = [
    "Evaluation",
    "Ledger",
    "Outputs",
    "Pool",
    "RoundReport",
    "Run",
    "SimulatedAnnotator",
    "annotators",
    "audit",
    "autolabel",
    "autolabel_many",
    "classifiers",
    "confidence",
    "errors",
    "executors",
    "image_features",
    "planner",
    "queries",
    "search",
    "thresholds",
    "write_report",
]

_HOME = {
    "Evaluation": "labelsieve.engine.run",
    "Ledger": "labelsieve.engine.ledger",
    "Outputs": "labelsieve.types",
    "Pool": "labelsieve.data.pool",
    "RoundReport": "labelsieve.types",
    "Run": "labelsieve.engine.run",
    "SimulatedAnnotator": "labelsieve.annotators",
    "autolabel": "labelsieve.engine.autolabel",
    "autolabel_many": "labelsieve.engine.autolabel",
    "image_features": "labelsieve.engine.looking",
    "write_report": "labelsieve.reports.files",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in __all__:
        return import_module(f"labelsieve.{name}")
    raise AttributeError(f"module 'labelsieve' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
