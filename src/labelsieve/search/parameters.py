"""Which values a method's parameter can take, by the type hints of its ``__init__``."""

from __future__ import annotations

import types
from numbers import Integral, Real
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sklearn.base import BaseEstimator

from labelsieve.errors import ConfigurationError


def check_values(method: BaseEstimator, name: str, values: Any, where: str) -> None:
    """Raise unless ``values`` is a list of things that parameter ``name`` of ``method`` can be."""
    known = method.get_params(deep=True)
    if name not in known:
        shown = sorted(parameter for parameter in known if parameter not in ("random_state", "device"))
        raise ConfigurationError(
            f"Grid, {where}: {type(method).__name__} has no parameter {name!r}; it has "
            f"{', '.join(map(repr, shown)) or 'none'}. Correct the name, or leave it out."
        )
    if not isinstance(values, (list, tuple)):
        raise ConfigurationError(
            f"Grid, {where}: {name} must be a list of values to try; got {values!r}. For one value, write [{values!r}]."
        )
    if not values:
        raise ConfigurationError(
            f"Grid, {where}: {name} must have at least one value; got an empty list. "
            "Leave the parameter out to keep it as it is."
        )
    wanted = _hint(method, name)
    for value in values:
        if not _fits(value, wanted):
            raise ConfigurationError(
                f"Grid, {where}: {name} must be {_said(wanted)}; got {value!r} ({type(value).__name__}). "
                "Correct or remove that value."
            )
    if len({repr(value) for value in values}) < len(values):
        raise ConfigurationError(f"Grid, {where}: {name} must have each value once; got {list(values)}.")


def _hint(method: BaseEstimator, name: str) -> Any:
    """The hint of a parameter, also of a part (``estimator__C``); Any where there is none."""
    owner, _, parameter = name.rpartition("__")
    if owner:
        method = method.get_params(deep=True)[owner]
    try:
        return get_type_hints(type(method).__init__).get(parameter, Any)
    except (NameError, TypeError):  # hints of somebody's own method need not make sense at run time
        return Any


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) in (Union, types.UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool) and value == value
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if hint in (bool, str):
        return isinstance(value, hint)
    return value is None if hint is type(None) else True


def _said(hint: Any) -> str:
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_said(option) for option in get_args(hint))
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    return {float: "a number", int: "a whole number", bool: "true or false", str: "a text"}.get(hint, "None")
