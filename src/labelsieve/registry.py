"""Names to methods, without importing any method until it is asked for.

Each group maps a name to ``"module:attribute"``. Other packages add theirs through entry points, for example
``[project.entry-points."labelsieve.confidence"]``.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from labelsieve.errors import UnknownMethodError

BUILT_IN: dict[str, dict[str, str]] = {
    "classifier": {
        "lenet": "labelsieve.classifiers.presets:lenet",
        "cnn": "labelsieve.classifiers.presets:cnn",
        "resnet": "labelsieve.classifiers.presets:resnet",
        "mlp": "labelsieve.classifiers.presets:mlp",
        "mlp-wide": "labelsieve.classifiers.presets:mlp_wide",
        "linear": "labelsieve.classifiers.presets:linear",
        "logistic": "labelsieve.classifiers.presets:logistic",
        "embedding": "labelsieve.classifiers.presets:embedding",
        "kernel": "labelsieve.classifiers.presets:kernel",
        "features": "labelsieve.classifiers.presets:features",
    },
    "training": {
        "vanilla": "labelsieve.classifiers.training.vanilla:Vanilla",
        "squentropy": "labelsieve.classifiers.training.squentropy:Squentropy",
        "crl": "labelsieve.classifiers.training.crl:CRL",
        "fmfp": "labelsieve.classifiers.training.fmfp:FMFP",
        "semi-supervised": "labelsieve.classifiers.training.semi_supervised:SemiSupervised",
    },
    "confidence": {
        "softmax": "labelsieve.confidence.softmax:Softmax",
        "temperature": "labelsieve.confidence.temperature:Temperature",
        "top-label-binning": "labelsieve.confidence.top_label_binning:TopLabelBinning",
        "scaling-binning": "labelsieve.confidence.scaling_binning:ScalingBinning",
        "dirichlet": "labelsieve.confidence.dirichlet:Dirichlet",
        "colander": "labelsieve.confidence.colander:Colander",
        "margin": "labelsieve.confidence.margin:Margin",
        "entropy": "labelsieve.confidence.entropy:Entropy",
        "energy": "labelsieve.confidence.energy:Energy",
        "isotonic": "labelsieve.confidence.isotonic:Isotonic",
        "evidence": "labelsieve.confidence.evidence:Evidence",
        "colander-evidence": "labelsieve.confidence.colander:colander_on_evidence",
        "auto": "labelsieve.confidence.auto:Auto",
    },
    "thresholds": {
        "certified": "labelsieve.thresholds.certified:CertifiedRule",
        "paper": "labelsieve.thresholds.paper:PaperRule",
    },
    "query": {
        "random": "labelsieve.queries.random:Random",
        "margin": "labelsieve.queries.margin:Margin",
        "margin-random": "labelsieve.queries.margin_random:MarginRandom",
        "entropy": "labelsieve.queries.entropy:Entropy",
        "least-confidence": "labelsieve.queries.least_confidence:LeastConfidence",
        "near-threshold": "labelsieve.queries.near_threshold:NearThreshold",
        "coreset": "labelsieve.queries.coreset:Coreset",
    },
}

AUTO = "auto"
CHOSEN_BY_THE_DATA = ("classifier", "training")
"""Groups in which "auto" is no method but stands for the one that suits the data."""


def choices(group: str) -> list[str]:
    """All names that a setting may have: those of the methods and, where the data can choose, "auto"."""
    return [*([AUTO] if group in CHOSEN_BY_THE_DATA else []), *names(group)]


def names(group: str) -> list[str]:
    """All registered names of a group, built in and from other packages."""
    return list(_targets(group))


def create(group: str, name: str) -> Any:
    """A new method of that name with its default parameters."""
    targets = _targets(group)
    if name not in targets:
        raise UnknownMethodError(
            f"{group} must be one of {', '.join(map(repr, choices(group)))}, or an instance; got {name!r}."
        )
    module, _, attribute = targets[name].partition(":")
    return getattr(import_module(module), attribute)()


def name_of(group: str, method: Any) -> str | None:
    """The name under which the class of this method is registered, if it is."""
    target = f"{type(method).__module__}:{type(method).__qualname__}"
    return next((name for name, known in _targets(group).items() if known == target), None)


@cache
def _targets(group: str) -> dict[str, str]:
    """Looked up once: finding entry points reads a file of every installed package."""
    plugins = {point.name: point.value for point in entry_points(group=f"labelsieve.{group}")}
    return {**plugins, **BUILT_IN[group]}
