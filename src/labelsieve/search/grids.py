"""Grids: the values to try for each parameter of a method, and all combinations of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from sklearn.base import BaseEstimator

from labelsieve import registry
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.errors import ConfigurationError
from labelsieve.search.parameters import check_values

Values: TypeAlias = dict[str, list[Any]]
Grid: TypeAlias = dict[str, dict[str, Values]]
"""Group ("training" or "confidence") -> method -> parameter -> values."""
Combination: TypeAlias = dict[str, Any]

DEFAULT, NONE, COMMON = "paper", "none", "common"
_GROUPS = ("training", "confidence")


def shipped_grids() -> dict[str, Grid]:
    """The grids that come with the package, by name, each complete."""
    tables = tomllib.loads((files("labelsieve.search") / "grids.toml").read_text(encoding="utf-8"))
    return {
        name: _over(tables[table["extends"]], table) if "extends" in table else _over({}, table)
        for name, table in tables.items()
    }


def own_grid(grid: Any) -> Mapping[str, Any]:
    """What the user asks for, as a mapping: a mapping, the path of a TOML file, the name of a grid, or None."""
    if grid is None:
        return {}
    if isinstance(grid, Mapping):
        return grid
    if isinstance(grid, str) and grid in {*shipped_grids(), NONE}:
        return {"extends": grid}
    if isinstance(grid, (str, PathLike)) and Path(grid).suffix == ".toml":
        try:
            return tomllib.loads(Path(grid).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigurationError(
                f"grid must be a TOML file such as docs/search.md shows; {grid} cannot be read: {error}."
            ) from None
    raise ConfigurationError(
        f"grid must be one of {', '.join(map(repr, shipped_grids()))}, the path of a .toml file, or a mapping "
        f"{{group: {{method: {{parameter: [values]}}}}}}; got {grid!r}."
    )


def combinations(
    grid: Any, classifier: Classifier, confidence: ConfidenceFunction
) -> tuple[list[Combination], list[Combination]]:
    """All settings of the classifier, and all of the confidence function, that the grid holds; checked.

    ``grid`` is laid over the shipped one it ``extends``, parameter by parameter. Names in the result are those of
    ``set_params``: parameters of the train-time method are parts of the classifier.
    """
    asked = own_grid(grid)
    base = _base(asked)
    training = classifier.get_params(deep=False).get("training")  # None for plain training
    _refuse_what_cannot_work(asked, classifier, {"training": training, "confidence": confidence})
    full = _over(base, asked)
    of_classifier = {
        name: values
        for name, values in full["training"].get(COMMON, {}).items()
        # The shipped values are those of networks; other classifiers stay as they are.
        if name in classifier.get_params(deep=True)
    }
    of_training = full["training"].get(_name("training", training), {})
    of_classifier |= {f"training__{name}": values for name, values in of_training.items()}
    return _all(of_classifier), _all(full["confidence"].get(_name("confidence", confidence), {}))


def _base(asked: Mapping[str, Any]) -> Grid:
    name, shipped = asked.get("extends", DEFAULT), shipped_grids()
    if name == NONE:
        return {}
    if not isinstance(name, str) or name not in shipped:
        raise ConfigurationError(
            f"A grid extends one of {', '.join(map(repr, shipped))}, or {NONE!r} to begin with nothing; got {name!r}."
        )
    return shipped[name]


def _over(base: Mapping[str, Any], grid: Mapping[str, Any]) -> Grid:
    """``base`` with the values of ``grid`` in place of its own."""
    merged: Grid = {}
    for group in _GROUPS:
        below, above = base.get(group, {}), grid.get(group, {})
        merged[group] = {method: {**below.get(method, {}), **above.get(method, {})} for method in {**below, **above}}
    return merged


def _all(values: Values) -> list[Combination]:
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def _name(group: str, method: BaseEstimator | None) -> str:
    """The registered name of a method, else that of its class."""
    return "vanilla" if method is None else registry.name_of(group, method) or type(method).__name__


def _refuse_what_cannot_work(
    asked: Mapping[str, Any], classifier: Classifier, in_use: Mapping[str, BaseEstimator | None]
) -> None:
    for group, methods in asked.items():
        if group == "extends":
            continue
        if group not in _GROUPS:
            raise ConfigurationError(
                f"A grid has the groups 'training' and 'confidence', and may say what it 'extends'; got {group!r}."
            )
        searched = {_name(group, in_use[group]): in_use[group]}
        if group == "training":
            searched[COMMON] = classifier
        for name, values in _mapping(methods, group).items():
            known = {**dict.fromkeys(registry.names(group)), **searched}
            if name not in known:
                raise ConfigurationError(
                    f"Grid, {group}: a method must be one of {', '.join(map(repr, known))}; got {name!r}."
                )
            method = known[name] or registry.create(group, name)
            for parameter, tried in _mapping(values, f"{group}.{name}").items():
                check_values(method, parameter, tried, f"{group}.{name}")


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"Grid, {where}: expected a table such as {{'learning_rate': [0.01, 0.1]}}; got {value!r}."
        )
    return value
