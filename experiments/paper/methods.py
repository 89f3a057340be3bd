"""The methods of the paper, with the parameters that the search has chosen."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

import labelsieve as ls
from experiments.paper.configuration import ANCHORED, Protocol
from experiments.paper.store import Store
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.errors import ConfigurationError
from labelsieve.registry import create

NOT_SEARCHED = ("softmax", ANCHORED)
"""The first has no parameters. The second keeps those of the package, so that nothing of it is fitted to these data."""
ON_GPU = {"full": "full", "tf32": "tf32", "bf16": "tf32"}
"""Precision of Colander, which has no bf16, beside that of the classifier."""


def classifier(protocol: Protocol, training: str) -> Classifier:
    """The paper's network for this dataset, with nothing searched yet."""
    unset = create("classifier", protocol.classifier)
    made: Classifier = unset.with_training(create("training", training)).set_params(precision=protocol.precision)
    return made


def confidence(protocol: Protocol, name: str) -> ConfidenceFunction:
    """With nothing searched yet. ``colander`` is the printed form: a random start, all epochs, z as it is."""
    if name == ANCHORED:
        return ls.confidence.Colander(precision=ON_GPU[protocol.precision])
    if name == "colander":
        return ls.confidence.Colander(
            anchor=None,
            features=protocol.features,
            standardise=False,
            early_stopping=None,
            cosine_period=100,
            batch_size=64,
            precision=ON_GPU[protocol.precision],
        )
    made: ConfidenceFunction = create("confidence", name)
    return made


class Chosen:
    """What the searches have found for one dataset."""

    def __init__(self, store: Store, protocol: Protocol) -> None:
        self._dataset = protocol.dataset
        self._found = {
            (record["training"], record["confidence"]): record for record in store.read("searches", protocol.dataset)
        }

    def parameters(self, training: str, confidence: str) -> dict[str, Any]:
        """Of the classifier and of the confidence function."""
        searched = "softmax" if confidence in NOT_SEARCHED else confidence
        record = self._found.get((training, searched))
        if record is None:
            raise ConfigurationError(
                f"Parameters of {training} with {confidence} on {self._dataset} must be searched first: "
                f"python -m experiments.paper search --dataset {self._dataset}"
            )
        return {
            "classifier_parameters": record["training_parameters"],
            "confidence_parameters": {} if confidence in NOT_SEARCHED else record["confidence_parameters"],
        }

    def methods(self, protocol: Protocol, training: str, confidence_name: str) -> tuple[Classifier, ConfidenceFunction]:
        """Ready for ``ls.autolabel``."""
        found = self.parameters(training, confidence_name)
        of_confidence = dict(found["confidence_parameters"])
        if "features" in of_confidence:
            of_confidence["features"] = protocol.features
        return (
            clone(classifier(protocol, training)).set_params(**found["classifier_parameters"]),
            confidence(protocol, confidence_name).set_params(**of_confidence),
        )
