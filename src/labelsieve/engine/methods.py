"""From names to the exchangeable parts of a run, checked before anybody is asked for a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from labelsieve import registry
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.data.pool import Pool
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.suited import classifier_suited_to, training_suited_to
from labelsieve.engine.validation import ValidationPlan, reusing, single_use
from labelsieve.errors import ConfigurationError
from labelsieve.queries.base import Query
from labelsieve.seeding import generator
from labelsieve.thresholds.base import ThresholdRule
from labelsieve.types import Bools


@dataclass(frozen=True)
class Methods:
    """The exchangeable parts of a run."""

    classifier: Classifier
    confidence: ConfidenceFunction
    thresholds: ThresholdRule
    query: Query

    def n_calibration(self, settings: RunSettings, n_validation: int) -> int:
        """A confidence function that needs no fitting, or learns from training points, leaves all validation points to
        the thresholds."""
        if not self.confidence.needs_fitting or self.confidence.training_folds:
            return 0
        return round(settings.calibration_fraction * n_validation)

    def calibration_mask(self, settings: RunSettings, n_validation: int, seed: int, round_number: int) -> Bools:
        """Which of the validation points of a round a confidence function learns from."""
        mask = np.zeros(n_validation, dtype=bool)
        order = generator(seed, "calibration split", round_number).permutation(n_validation)
        mask[order[: self.n_calibration(settings, n_validation)]] = True
        return mask

    def in_words(self, fitted: Classifier | None = None) -> dict[str, str]:
        """What each of them is, and what a fitted classifier has chosen by itself."""
        words = {name: str(method) for name, method in vars(self).items()}
        if fitted is not None and fitted.choice_:
            words["classifier"] += f"; {fitted.choice_}"
        return words

    def plan(self, settings: RunSettings, validation_reuse: str, is_given: bool) -> ValidationPlan:
        """How validation labels are used: a rule that certifies may use each of them once."""
        if validation_reuse not in ("auto", "fresh", "folds", "reuse"):
            raise ConfigurationError(
                f"validation_reuse must be 'auto', 'fresh', 'folds' or 'reuse'; got {validation_reuse!r}."
            )
        if validation_reuse == "fresh" and is_given:
            raise ConfigurationError(
                "validation_reuse='fresh' draws validation labels from the pool, and validation data were given; "
                "use 'folds', or leave validation out."
            )
        min_points = self.min_validation(settings, self.thresholds.min_support)
        if not self.thresholds.certifies or validation_reuse == "reuse":
            plan = reusing(settings, min_points)
        else:
            plan = single_use("folds" if is_given or validation_reuse == "folds" else "fresh", settings, min_points)
        if settings.stop_early and (obstacle := self._obstacle_to_stopping(plan, settings.certified_rounds)):
            raise ConfigurationError(obstacle)
        return plan

    def stops_early_by_itself(self, settings: RunSettings, validation_reuse: str, is_given: bool) -> bool:
        """Whether a run that may choose stops early: where it can, and the models this takes are trained in seconds."""
        plan = self.plan(settings, validation_reuse, is_given)
        return (
            self.classifier.trains_in_seconds
            and plan.single_use
            and not self._obstacle_to_stopping(plan, settings.certified_rounds)
        )

    def _obstacle_to_stopping(self, plan: ValidationPlan, certified_rounds: int) -> str | None:
        """Whether to ask on is decided by training labels alone, and by a function that says what it expects."""
        has_no_idea = type(self.confidence).expected_coverage is ConfidenceFunction.expected_coverage
        if not self.confidence.training_folds or has_no_idea:
            return (
                "stop_early needs a confidence function that learns from training labels what coverage to expect: "
                f"'auto' or 'evidence'; got {self.confidence}. Use confidence='auto', or leave stop_early out."
            )
        if plan.single_use and plan.max_tests > 1:
            return (
                "stop_early makes its one certified test once asking no longer pays, with all of delta; got "
                f"certified_rounds={certified_rounds}. Use certified_rounds=1, or leave stop_early out."
            )
        return None

    def min_validation(self, settings: RunSettings, for_thresholds: int) -> int:
        """Fewest validation points that leave so many to the thresholds."""
        n = for_thresholds
        while n - self.n_calibration(settings, n) < for_thresholds:
            n += 1
        return n

    def refuse_what_cannot_work(
        self, settings: RunSettings, plan: ValidationPlan, pool: Pool, n_classes: int | None
    ) -> None:
        """Raise for what would otherwise be found out only after people have answered."""
        self.confidence.check_parameters()
        self.thresholds.check_parameters()
        if self.confidence.needs_raw_logits and not self.classifier.gives_raw_logits:
            raise ConfigurationError(
                f"{type(self.confidence).__name__} needs a network's logits; {type(self.classifier).__name__} gives "
                "log-probabilities, for which it is always 0. Use confidence='softmax', or classifier='mlp'."
            )
        clone(self.classifier).check(pool.take(np.arange(min(2, len(pool)))), n_classes or 2)
        needed, n_validation = self.thresholds.min_support, plan.per_test
        n_calibration = self.n_calibration(settings, n_validation)
        if n_validation - n_calibration < needed:
            raise ConfigurationError(
                f"{type(self.thresholds).__name__} needs at least {needed} validation points to set any threshold; "
                f"{n_validation - n_calibration} of {n_validation} are left when {n_calibration} go to "
                f"{type(self.confidence).__name__}. Raise validation_budget."
            )


def needs_network(training: Any, confidence: Any) -> bool:
    """Whether these methods only go with a network that the run trains."""
    from labelsieve.classifiers.training.semi_supervised import SemiSupervised
    from labelsieve.classifiers.training.vanilla import Vanilla

    is_for_all = training in (registry.AUTO, "vanilla", "semi-supervised") or isinstance(
        training, Vanilla | SemiSupervised
    )
    return not is_for_all or _method("confidence", confidence, ConfidenceFunction).needs_raw_logits


def compose(
    pool: Pool,
    settings: RunSettings,
    device: str,
    *,
    classifier: Any,
    training: Any,
    confidence: Any,
    thresholds: Any,
    query: Any,
) -> Methods:
    """Names and instances as methods for this pool, these settings and this device."""
    if isinstance(classifier, str) and classifier == registry.AUTO:
        classifier = classifier_suited_to(pool, device)
    if isinstance(training, str) and training == registry.AUTO:
        training = training_suited_to(classifier, len(pool))
    return Methods(
        classifier=_on_device(_trained_by(_classifier(classifier), training), device),
        confidence=_with_promise(_on_device(_method("confidence", confidence, ConfidenceFunction), device), settings),
        thresholds=_with_promise(_method("thresholds", thresholds, ThresholdRule), settings),
        query=_method("query", query, Query),
    )


def _classifier(classifier: Any) -> Classifier:
    """A name, a classifier, a scikit-learn estimator or a factory of torch modules."""
    if isinstance(classifier, str):
        created: Classifier = registry.create("classifier", classifier)
        return created
    if isinstance(classifier, Classifier):
        return classifier
    if isinstance(classifier, type) and hasattr(classifier, "fit"):
        raise ConfigurationError(f"classifier must be an instance, not a class: {classifier.__name__}(), for example.")
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
        f"classifier must be one of {', '.join(map(repr, registry.choices('classifier')))}, a scikit-learn "
        f"classifier, or a function (point_shape, n_classes) -> torch module; got {classifier!r}."
    )


def _trained_by(classifier: Classifier, training: Any) -> Classifier:
    """Plain training is what every classifier does unless told otherwise, and needs no torch to say so."""
    if isinstance(training, str) and training == "vanilla":
        return classifier
    from labelsieve.classifiers.training.base import TrainTimeMethod

    return classifier.with_training(_method("training", training, TrainTimeMethod))


def _method(group: str, method: Any, kind: type) -> Any:
    """A method by name, or the instance given."""
    if isinstance(method, str):
        return registry.create(group, method)
    if isinstance(method, type) or not isinstance(method, kind):
        raise ConfigurationError(
            f"{group} must be one of {', '.join(map(repr, registry.choices(group)))}, or an instance; got {method!r}."
        )
    return method


def _on_device(method: Any, device: str) -> Any:
    """A copy that computes on this device, unless it has none or was given one of its own."""
    return clone(method).set_params(device=device) if method.get_params().get("device") == "auto" else method


def _with_promise(method: Any, settings: RunSettings) -> Any:
    """A copy that works at the run's tolerance, and at each test's share of its delta, if it wants to know them."""
    wanted = {"tolerance": settings.tolerance, "delta": settings.delta}
    given = method.get_params(deep=False)
    if not wanted.keys() & given.keys():
        return method
    for name, value in wanted.items():
        if given.get(name) not in (None, value):
            raise ConfigurationError(
                f"{type(method).__name__} was made for {name}={given[name]}, the run for {name}={value}. "
                "Leave it out there, or give both the same."
            )
    wanted["delta"] /= settings.certified_rounds
    return clone(method).set_params(**{name: value for name, value in wanted.items() if name in given})
