"""How many labels people are asked for: numbers that fit the data, checked before any feature is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from labelsieve.data.pool import Pool
from labelsieve.engine.autolabel import all_settings
from labelsieve.engine.methods import compose
from labelsieve.engine.settings import RunSettings, checked_settings
from labelsieve.errors import ConfigurationError
from labelsieve.project.config import Config, LabellingSection

_LEARN_FROM, _CHECK_WITH = 6, 3
"""By default, people are asked about one item in so many at most: about half of few items. More to check with than to
learn from, since without enough of these nothing at all is labelled by machine."""
_MANY = 10**9
_SETTINGS = (
    "tolerance",
    "delta",
    "train_budget",
    "validation_budget",
    "certified_rounds",
    "seed_size",
    "batch_size",
    "calibration_fraction",
    "max_rounds",
    "label_rest",
    "random_state",
    "stop_early",
)


def with_fitting_budgets(config: Config, n_items: int) -> Config:
    """Budgets that were not given are chosen for so many items; left at their defaults if none would do."""
    labelling = config.labelling
    given = labelling.model_fields_set
    train, validation = labelling.train_budget, labelling.validation_budget
    if "train_budget" not in given:
        train = min(train, n_items // _LEARN_FROM)
    if "validation_budget" not in given:
        fewest = fewest_to_check_with(labelling, n_items - train) or fewest_to_check_with(labelling, _MANY) or 0
        validation = max(min(validation, n_items // _CHECK_WITH), fewest)
    if "train_budget" not in given:
        train = min(train, n_items - validation)
    if train < len(config.classes):
        return config
    chosen = labelling.model_copy(update={"train_budget": train, "validation_budget": validation})
    return config.model_copy(update={"labelling": chosen})


def check_budgets(config: Config, n_items: int) -> None:
    """Raise ``ConfigurationError`` if a run over so many items could not begin."""
    labelling = config.labelling
    try:
        if fewest_to_check_with(labelling, n_items - len(config.classes)) is None:
            usual = fewest_to_check_with(labelling, _MANY) or 0
            raise ConfigurationError(
                f"Machine labels {_promise(labelling)} take {usual:,} labels to check with and some to learn from; "
                f"there are {n_items:,} items, of which about as many again must be left to the machine for the check "
                "to tell anything. Label them by hand, or accept a larger tolerance or delta."
            )
        _checked(labelling, n_items, len(config.classes))
        points = n_items - labelling.train_budget
        needed = fewest_to_check_with(labelling, points)
        if needed is None:
            raise ConfigurationError(
                f"train_budget leaves {points:,} items to check with and to label by machine, too few for any machine "
                f"label to pass {_promise(labelling)}. Lower it, or accept a larger tolerance or delta."
            )
        if labelling.validation_budget < needed:
            raise _too_few_to_check_with(labelling, needed)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"{error} These are keys of [labelling] in labelsieve.toml, and options of labelsieve init."
        ) from None


def check_given_validation_budget(config: Config) -> None:
    """Raise ``ConfigurationError`` if no machine label could pass with it, however many items there are."""
    labelling = config.labelling
    if "validation_budget" in labelling.model_fields_set:
        needed = fewest_to_check_with(labelling, _MANY)
        if needed is not None and labelling.validation_budget < needed:
            raise _too_few_to_check_with(labelling, needed)


def _too_few_to_check_with(labelling: LabellingSection, needed: int) -> ConfigurationError:
    return ConfigurationError(
        f"validation_budget must be {needed:,} or more for any machine label to pass {_promise(labelling)}; it is "
        f"{labelling.validation_budget:,}. Raise it, or accept a larger tolerance or delta."
    )


def _promise(labelling: LabellingSection) -> str:
    return f"at a tolerance of {labelling.tolerance:g} and a delta of {labelling.delta:g}"


def fewest_to_check_with(labelling: LabellingSection, points: int) -> int | None:
    """Validation labels, of so many points that are not learned from, without which no threshold can be set, however
    good the model; None if no number is enough."""
    settings = _checked(labelling, labelling.train_budget + labelling.validation_budget, None)
    methods = compose(
        Pool(np.zeros((1, 1))),  # the classifier makes no difference here, and nothing else looks at the points
        settings,
        "cpu",
        classifier="logistic",
        training="vanilla",
        confidence=labelling.confidence,
        thresholds=labelling.thresholds,
        query=labelling.query,
    )
    plan = methods.plan(settings, "auto", is_given=False)
    to_calibrate = methods.n_calibration(settings, plan.min_points)
    for_thresholds = methods.thresholds.fewest_held_out(points - to_calibrate)
    if for_thresholds is None:
        return None
    return methods.min_validation(settings, for_thresholds) * (int(plan.max_tests) if plan.single_use else 1)


def _checked(labelling: LabellingSection, n_items: int, n_classes: int | None) -> RunSettings:
    everything: dict[str, Any] = all_settings(None, None, labelling.model_dump())
    chosen = {name: everything[name] for name in _SETTINGS}
    return checked_settings(pool_size=n_items, n_given_validation=0, n_classes=n_classes, **chosen)
