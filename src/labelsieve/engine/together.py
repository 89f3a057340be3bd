"""Many fits of many runs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labelsieve.engine.requests import FitConfidence, TrainClassifier


def fit_together(requests: Sequence[TrainClassifier | FitConfidence]) -> list[Any]:
    """What each request asks for, in their order: fitted classifiers and confidence functions."""
    return [
        request.perform(lambda _share: None) if isinstance(request, TrainClassifier) else request.perform()
        for request in requests
    ]
