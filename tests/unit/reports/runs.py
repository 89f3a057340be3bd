"""Runs of any number of classes, to report on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

import labelsieve as ls
from labelsieve.errors import UnseenClassWarning


@dataclass(frozen=True)
class Labelled:
    """A run and the truth about its pool."""

    run: ls.Run
    truth: np.ndarray


def label_blobs(names: Sequence[Any], n: int = 400, spread: float = 2.0, **settings: Any) -> Labelled:
    """Label blobs of these classes."""
    x, codes = make_blobs(n, n_features=8, centers=len(names), cluster_std=spread, random_state=0)
    truth = np.array(names, dtype=object)[codes]
    methods = {"classifier": "logistic", "confidence": "softmax", "thresholds": "paper", "progress": False}
    settings = {"train_budget": 60, "validation_budget": 150} | methods | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenClassWarning)  # sixty classes cannot all be in the first batch
        return Labelled(ls.autolabel(x, ls.SimulatedAnnotator(truth), classes=names, **settings), truth)
