"""The first entries of a ledger, and the checks before one is continued."""

from __future__ import annotations

from typing import Any

import joblib

from labelsieve.data.classes import ClassCodes, label_list
from labelsieve.data.pool import Pool
from labelsieve.engine.entries import ClassesNamed, RunStarted, ValidationGiven
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.settings import RunSettings
from labelsieve.errors import ConfigurationError, DataError
from labelsieve.types import Label


def given_validation(validation: Any, pool: Pool, name: str = "validation") -> tuple[Pool | None, list[Any]]:
    """Points and labels held out up front, if any; ``name`` is the argument they came in."""
    if validation is None:
        return None, []
    if not (isinstance(validation, (tuple, list)) and len(validation) == 2 and hasattr(validation[1], "__len__")):
        raise DataError(f"{name} must be a pair (X, y) of points and labels; got {type(validation).__name__}.")
    points = validation[0]
    given = points if isinstance(points, Pool) else Pool(points, name=f"{name} data")
    labels = label_list(validation[1])
    if given.point_shape != pool.point_shape:
        raise DataError(
            f"{name} points must have the shape of pool points, {pool.point_shape}; got {given.point_shape}."
        )
    if len(given) != len(labels):
        raise DataError(f"{name} needs one label per point; got {len(given)} points and {len(labels)} labels.")
    return given, labels


def open_ledger(
    ledger: Ledger,
    pool: Pool,
    given: Pool | None,
    given_labels: list[Any],
    names: tuple[Label, ...] | None,
    settings: RunSettings,
    rule: str,
) -> ClassCodes:
    """Write the first entries, or check that the ledger is about this run; returns the class codes so far."""
    start = RunStarted(
        n_pool=len(pool),
        n_given_validation=len(given_labels),
        random_state=settings.random_state,
        pool_fingerprint=pool.fingerprint(),
        validation_fingerprint=None if given is None else f"{given.fingerprint()}-{joblib.hash(given_labels)[:12]}",
        promise=f"{rule} at tolerance {settings.tolerance}, delta {settings.delta} "
        f"over {settings.certified_rounds} tests",
    )
    if len(ledger):
        _refuse_another_run(ledger, start)
        return _classes_so_far(ledger, names)
    codes = ClassCodes(names or (), is_open=names is None)
    labels = codes.codes(given_labels)
    if given is not None and len(labels) < len(codes.names):
        raise DataError(
            f"Validation needs at least one point per class; got {len(labels)} points for {len(codes.names)} classes."
        )
    ledger.append(start, ClassesNamed(tuple(codes.names)), ValidationGiven(labels))
    return codes


def _refuse_another_run(ledger: Ledger, start: RunStarted) -> None:
    (begun,) = (entry for entry in ledger if isinstance(entry, RunStarted))
    differing = [name for name, value in vars(start).items() if value != getattr(begun, name)]
    if differing:
        raise ConfigurationError(
            "A run can be continued only with the same pool, validation data, random_state and promise; "
            + ", ".join(f"{name} was {getattr(begun, name)!r} and is {getattr(start, name)!r}" for name in differing)
            + "."
        )


def _classes_so_far(ledger: Ledger, names: tuple[Label, ...] | None) -> ClassCodes:
    """Classes may be added when a run goes on; those that are there must stay."""
    known = list(ledger.state.classes)
    if names is not None and not set(known) <= set(names):
        raise ConfigurationError(
            f"A run can be continued with more classes, not with others: it has {known}, got {list(names)}."
        )
    new = tuple(name for name in names or () if name not in known)
    if new:
        ledger.append(ClassesNamed(new))
    return ClassCodes([*known, *new], is_open=names is None)
