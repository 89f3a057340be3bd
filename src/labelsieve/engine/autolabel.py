"""``autolabel``: from names and numbers to a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.base import clone

from labelsieve import registry
from labelsieve.annotators.base import Annotator, as_annotator
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.data.classes import ClassCodes, declared_classes
from labelsieve.data.pool import Pool, as_pool
from labelsieve.engine.asking import ask
from labelsieve.engine.entries import ClassesNamed, RunStarted, ValidationGiven
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.loop import Loop, Methods
from labelsieve.engine.progress import Silent, bars_if_terminal
from labelsieve.engine.requests import AskHumans, FitConfidence, TrainClassifier
from labelsieve.engine.run import Run
from labelsieve.engine.settings import checked_settings
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.queries.base import Query
from labelsieve.thresholds.base import ThresholdRule
from labelsieve.types import Label

_SMALLEST_IMAGE = 16


def autolabel(
    pool: Any,
    annotator: Any,
    *,
    classes: int | Iterable[Label] | None = None,
    tolerance: float = 0.05,
    train_budget: int = 500,
    validation_budget: int = 500,
    seed_size: int | None = None,
    batch_size: int | None = None,
    classifier: Any = "auto",
    training: Any = "vanilla",
    confidence: Any = "softmax",
    thresholds: Any = "paper",
    query: Any = "margin-random",
    calibration_fraction: float = 0.5,
    validation: tuple[Any, Any] | None = None,
    max_rounds: int | None = None,
    label_rest: bool = False,
    ledger: Ledger | Run | None = None,
    random_state: int = 0,
    device: str = "auto",
    progress: bool | Silent = True,
) -> Run:
    """Label a pool with few human labels and as many machine labels as the tolerance allows.

    pool: features (n, d), images (n, h, w[, c]), or an ``ls.Pool`` with ids.
    annotator: an object with ``label(ids)``, or a function of ids; answers with one label per id.
    classes: names, a count (0 to count - 1), or None to learn them from the answers.
    tolerance: the share of wrong machine labels you accept (ε).
    train_budget, validation_budget: how many human labels may be asked for, to learn and to check.
    seed_size, batch_size: first and later batches of training labels; 0.4 and 0.2 of the train budget if None.
    classifier, training, confidence, thresholds, query: a name, or an instance with its own parameters.
    calibration_fraction: share of the validation points a fitted confidence function learns from (ν).
    validation: (X, y) held out up front, outside the pool; otherwise drawn from the pool and asked for.
    label_rest: ask humans for whatever is left in the end.
    ledger: a ledger or run to continue, for example after an annotator raised (``error.ledger``). Give an empty
        ``ls.Ledger()`` to keep hold of all answers even if the process is interrupted from the keyboard.
    """
    pool = as_pool(pool)
    answering = as_annotator(annotator)
    names = declared_classes(classes)
    given = _given_validation(validation, pool)
    settings = checked_settings(
        pool_size=len(pool),
        n_given_validation=0 if given is None else len(given),
        n_classes=None if names is None else len(names),
        tolerance=tolerance,
        train_budget=train_budget,
        validation_budget=validation_budget,
        seed_size=seed_size,
        batch_size=batch_size,
        calibration_fraction=calibration_fraction,
        max_rounds=max_rounds,
        label_rest=label_rest,
        random_state=random_state,
    )
    methods = Methods(
        classifier=_on_device(_trained_by(_classifier(classifier, pool), training), device),
        confidence=_on_device(_method("confidence", confidence, ConfidenceFunction), device),
        thresholds=_with_tolerance(_method("thresholds", thresholds, ThresholdRule), settings.tolerance),
        query=_method("query", query, Query),
    )
    ledger = _own_ledger(ledger)
    codes = _open_ledger(ledger, pool, given, None if validation is None else validation[1], names, random_state)
    observer = progress if isinstance(progress, Silent) else bars_if_terminal(progress)
    with observer:
        loop = Loop(pool, given, methods, settings, ledger, observer)
        reason = _drive(loop, answering, pool, codes, ledger, observer)
    described = {name: str(method) for name, method in vars(methods).items()}
    return Run(ledger, pool.ids, reason, {**asdict(settings), **described})


def _drive(loop: Loop, annotator: Annotator, pool: Pool, codes: ClassCodes, ledger: Ledger, observer: Silent) -> str:
    """Perform one request after the other until the loop ends; returns why it ended."""
    steps = loop.steps()
    result: Any = None
    while True:
        try:
            request = steps.send(result)
        except StopIteration as end:
            return str(end.value)
        match request:
            case AskHumans():
                observer.asking(len(request.points), request.role)
                result = None
                ask(annotator, pool.ids[request.points], request.points, codes, ledger)
            case TrainClassifier():
                result = request.perform(observer.training)
            case FitConfidence():
                result = request.perform()


def _classifier(classifier: Any, pool: Pool) -> Classifier:
    """A name, a classifier, a scikit-learn estimator or a factory of torch modules."""
    if isinstance(classifier, str) and classifier == "auto":
        classifier = _suited_to(pool.point_shape)
    if isinstance(classifier, str):
        created: Classifier = registry.create("classifier", classifier)
        return created
    if isinstance(classifier, Classifier):
        return classifier
    if hasattr(classifier, "predict_proba"):
        from labelsieve.classifiers.sklearn_classifier import SklearnClassifier

        return SklearnClassifier(classifier)
    if hasattr(classifier, "fit"):
        raise ConfigurationError(
            f"A scikit-learn classifier needs predict_proba, since confidence is learned from it; "
            f"{type(classifier).__name__} has none. Wrap it in sklearn.calibration.CalibratedClassifierCV."
        )
    if callable(classifier):
        from labelsieve.classifiers.torch_classifier import TorchClassifier

        return TorchClassifier(classifier)
    raise ConfigurationError(
        f"classifier must be 'auto', one of {', '.join(map(repr, registry.names('classifier')))}, a scikit-learn "
        f"classifier, or a function (point_shape, n_classes) -> torch module; got {classifier!r}."
    )


def _suited_to(point_shape: tuple[int, ...]) -> str:
    """Networks for images large enough to have something to convolve, logistic regression for the rest."""
    if len(point_shape) == 1 or min(point_shape[:2]) < _SMALLEST_IMAGE:
        return "logistic"
    return "cnn" if len(point_shape) == 3 and point_shape[2] > 1 else "lenet"


def _trained_by(classifier: Classifier, training: Any) -> Classifier:
    """Plain training is what every classifier does unless told otherwise, and needs no torch to say so."""
    if isinstance(training, str) and training == "vanilla":
        return classifier
    return classifier.with_training(_method("training", training))


def _method(group: str, method: Any, kind: type = object) -> Any:
    """A method by name, or the instance given."""
    if isinstance(method, str):
        return registry.create(group, method)
    if isinstance(method, type) or not isinstance(method, kind):
        raise ConfigurationError(
            f"{group} must be one of {', '.join(map(repr, registry.names(group)))}, or an instance; got {method!r}."
        )
    return method


def _on_device(method: Any, device: str) -> Any:
    """A copy that computes on this device, unless it has none or was given one of its own."""
    return clone(method).set_params(device=device) if method.get_params().get("device") == "auto" else method


def _with_tolerance(rule: ThresholdRule, tolerance: float) -> ThresholdRule:
    """The rule works at the run's tolerance; one that says otherwise is a mistake somebody should know of."""
    if rule.tolerance is not None and rule.tolerance != tolerance:
        raise ConfigurationError(
            f"The threshold rule was made for tolerance={rule.tolerance}, the run for tolerance={tolerance}. "
            "Leave it out of the rule, or give both the same."
        )
    adjusted: ThresholdRule = clone(rule).set_params(tolerance=tolerance)
    return adjusted


def _given_validation(validation: tuple[Any, Any] | None, pool: Pool) -> Pool | None:
    if validation is None:
        return None
    if not (isinstance(validation, tuple) and len(validation) == 2):
        raise DataError(f"validation must be a pair (X, y); got {type(validation).__name__}.")
    x, y = validation
    given = Pool(x, name="validation data")
    if given.point_shape != pool.point_shape:
        raise DataError(
            f"Validation points must have the shape of pool points, {pool.point_shape}; got {given.point_shape}."
        )
    if len(given) != len(y):
        raise DataError(f"Validation needs one label per point; got {len(given)} points and {len(y)} labels.")
    return given


def _own_ledger(ledger: Ledger | Run | None) -> Ledger:
    """A finished run keeps its ledger as it is: continuing it works on a replayed copy."""
    if isinstance(ledger, Run):
        copied = Ledger()
        copied.append(*ledger.ledger)
        return copied
    if ledger is not None and not isinstance(ledger, Ledger):
        raise ConfigurationError(f"ledger must be an ls.Ledger or a run; got {type(ledger).__name__}.")
    return Ledger() if ledger is None else ledger


def _open_ledger(
    ledger: Ledger, pool: Pool, given: Pool | None, given_labels: Any, names: tuple[Label, ...] | None, seed: int
) -> ClassCodes:
    """Write the first entries, or check that the ledger is about this pool; returns the class codes so far."""
    start = RunStarted(len(pool), 0 if given is None else len(given), int(seed), pool.fingerprint())
    if len(ledger):
        (begun,) = (entry for entry in ledger if isinstance(entry, RunStarted))
        differing = [name for name, value in vars(start).items() if value != getattr(begun, name)]
        if differing:
            raise ConfigurationError(
                "A run can be continued only with the same pool, validation data and random_state; "
                + ", ".join(
                    f"{name} was {getattr(begun, name)!r} and is {getattr(start, name)!r}" for name in differing
                )
                + "."
            )
        return ClassCodes(ledger.state.classes, is_open=names is None)
    codes = ClassCodes(names or (), is_open=names is None)
    labels = None if given is None else codes.codes(np.asarray(given_labels).tolist())
    if labels is not None and len(labels) < len(codes.names):
        raise DataError(
            f"Validation needs at least one point per class; got {len(labels)} points for {len(codes.names)} classes."
        )
    ledger.append(start, ClassesNamed(tuple(codes.names)))
    if labels is not None:
        ledger.append(ValidationGiven(labels))
    return codes
