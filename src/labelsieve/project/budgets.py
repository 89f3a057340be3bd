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
    validation = labelling.validation_budget
    if "validation_budget" not in given:
        validation = max(min(validation, n_items // _CHECK_WITH), fewest_to_check_with(labelling))
    train = labelling.train_budget
    if "train_budget" not in given:
        train = min(train, n_items // _LEARN_FROM, n_items - validation)
    if train < len(config.classes):
        return config
    chosen = labelling.model_copy(update={"train_budget": train, "validation_budget": validation})
    return config.model_copy(update={"labelling": chosen})


def check_budgets(config: Config, n_items: int) -> None:
    """Raise ``ConfigurationError`` if a run over so many items could not begin."""
    labelling = config.labelling
    try:
        needed = fewest_to_check_with(labelling)
        if needed + len(config.classes) > n_items:
            raise ConfigurationError(
                f"Machine labels {_promise(labelling)} take {needed:,} labels to check with and some to learn from; "
                f"there are {n_items:,} items. Label them by hand, or accept a larger tolerance or delta."
            )
        _checked(labelling, n_items, len(config.classes))
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
        needed = fewest_to_check_with(labelling)
        if labelling.validation_budget < needed:
            raise _too_few_to_check_with(labelling, needed)


def _too_few_to_check_with(labelling: LabellingSection, needed: int) -> ConfigurationError:
    return ConfigurationError(
        f"validation_budget must be {needed:,} or more for any machine label to pass {_promise(labelling)}; it is "
        f"{labelling.validation_budget:,}. Raise it, or accept a larger tolerance or delta."
    )


def _promise(labelling: LabellingSection) -> str:
    return f"at a tolerance of {labelling.tolerance:g} and a delta of {labelling.delta:g}"


def fewest_to_check_with(labelling: LabellingSection) -> int:
    """Validation labels without which no threshold can be set, however good the model."""
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
    return plan.min_points * int(plan.max_tests) if plan.single_use else plan.min_points


def _checked(labelling: LabellingSection, n_items: int, n_classes: int | None) -> RunSettings:
    everything: dict[str, Any] = all_settings(None, None, labelling.model_dump())
    chosen = {name: everything[name] for name in _SETTINGS}
    return checked_settings(pool_size=n_items, n_given_validation=0, n_classes=n_classes, **chosen)
