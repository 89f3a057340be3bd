"""The edge where labels come in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, runtime_checkable

from labelsieve.errors import ConfigurationError
from labelsieve.types import Array


@runtime_checkable
class Annotator(Protocol):
    """Anything with ``label(ids)`` that answers with one label per id, in the same order.

    The answer may be a generator that yields labels one by one: if it raises half-way, what it has yielded is kept.
    """

    def label(self, ids: Array) -> Iterable[Any]: ...


class CallableAnnotator:
    """A plain function of ids as an annotator."""

    def __init__(self, function: Callable[[Array], Iterable[Any]]) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function

    def label(self, ids: Array) -> Iterable[Any]:
        return self._function(ids)


def as_annotator(annotator: Any) -> Annotator:
    """The annotator itself, or a function wrapped as one."""
    if isinstance(annotator, Annotator):
        return annotator
    if callable(annotator):
        return CallableAnnotator(annotator)
    raise ConfigurationError(
        "annotator must have a method label(ids), or be a function of ids; "
        f"got {type(annotator).__name__}. For labels you already have, use ls.SimulatedAnnotator(y)."
    )


def annotator_name(annotator: Annotator) -> str:
    """What the ledger writes down: the annotator's ``name`` if it has one, else its class."""
    return str(getattr(annotator, "name", type(annotator).__name__))
