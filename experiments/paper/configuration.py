"""How each dataset is labelled: one TOML file per dataset, read into a ``Protocol``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "configurations"
DATASETS = ("mnist", "cifar10", "newsgroups20", "tiny_imagenet")
TRAININGS = ("vanilla", "squentropy", "crl", "fmfp")
CONFIDENCES = ("softmax", "temperature", "dirichlet", "scaling-binning", "top-label-binning", "colander")
"""Those of the paper, in the order of its table; ``colander`` is the printed form."""
CALIBRATION = CONFIDENCES[1:-1]
ANCHORED = "colander-anchored"
"""The form that is the default of the package. It is not in the paper."""
RULES = ("paper", "certified")
TOLERANCE = 0.05


@dataclass(frozen=True)
class SearchSizes:
    """Points that the hyper-parameter search has for itself, how many first batches it
    draws, and how many fits it does side by side."""

    pool: int
    validation: int
    hyp: int
    seeds: int
    at_once: int

    @property
    def points(self) -> int:
        return self.pool + self.validation + self.hyp


@dataclass(frozen=True)
class Sweep:
    """One quantity varied, all else as in the table. ``total``: what validation and training labels add up to."""

    name: str
    values: tuple[Any, ...]
    seeds: int
    total: int | None = None
    trainings: tuple[str, ...] = ("squentropy",)
    confidences: tuple[str, ...] = CONFIDENCES

    @property
    def methods(self) -> set[tuple[str, str]]:
        return set(product(self.trainings, self.confidences))

    def changes(self, value: Any) -> dict[str, Any]:
        if self.total is None:
            return {self.name: value}
        return {self.name: value, "train_budget": self.total - value}


@dataclass(frozen=True)
class Protocol:
    """Sizes, network and searches of one dataset. ``precision`` and ``at_once`` are about speed alone."""

    dataset: str
    title: str
    classifier: str
    precision: str
    grid: str
    pool: int
    validation: int
    train_budget: int
    first_batch: float
    next_batch: float
    seeds: int
    at_once: int
    search: SearchSizes
    calibration_fraction: float = 0.5
    features: str = "concat"
    sweeps: Mapping[str, Sweep] = field(default_factory=dict)

    @property
    def seed_size(self) -> int:
        return round(self.first_batch * self.train_budget)

    @property
    def batch_size(self) -> int:
        return round(self.next_batch * self.train_budget)

    @property
    def rounds(self) -> int:
        return 1 + -(-(self.train_budget - self.seed_size) // self.batch_size)

    def changed(self, changes: Mapping[str, Any]) -> Protocol:
        return replace(self, **changes)


def protocol(dataset: str, folder: Path = FOLDER) -> Protocol:
    """The protocol of a dataset, from its file."""
    written = tomllib.loads((folder / f"{dataset}.toml").read_text(encoding="utf-8"))
    sweeps = {
        name: Sweep(name=name, **{key: tuple(v) if isinstance(v, list) else v for key, v in sweep.items()})
        for name, sweep in written.pop("sweeps", {}).items()
    }
    return Protocol(dataset=dataset, search=SearchSizes(**written.pop("search")), sweeps=sweeps, **written)
