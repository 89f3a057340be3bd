"""The classes of a run: names given by the user, or learned from the answers in order of appearance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from labelsieve.errors import ConfigurationError, LabelError
from labelsieve.types import Ints, Label, to_numpy


def declared_classes(classes: int | Iterable[Label] | None) -> tuple[Label, ...] | None:
    """Class names from a count, from names, or None when they are to be learned from the answers."""
    if classes is None:
        return None
    if isinstance(classes, (int, np.integer)):
        names: tuple[Label, ...] = tuple(range(int(classes)))
    elif isinstance(classes, Iterable) and not isinstance(classes, str):
        names = tuple(clean_label(name) for name in classes)
    else:
        raise ConfigurationError(f"classes must be a list of names, a whole number, or None; got {classes!r}.")
    if len(set(names)) != len(names):
        raise ConfigurationError(f"classes must be different from each other; got {list(names)}.")
    if len(names) < 2:
        raise ConfigurationError(
            f"classes must name at least two classes, since one leaves nothing to decide; got {list(names)}."
        )
    return names


def clean_label(label: Any) -> Label:
    """A label as a plain string or integer; anything else raises ``LabelError``."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (str, int)):
        raise LabelError(f"A label must be a string or an integer; got {label!r} ({type(label).__name__}).")
    return value


def label_list(labels: Any) -> list[Any]:
    """Labels as plain objects. Lists are left as they are: numpy would turn 1 beside "a" into "1"."""
    return list(labels) if isinstance(labels, (list, tuple)) else to_numpy(labels).tolist()


class ClassCodes:
    """Turns labels into codes 0..k-1. Codes never change; an open list grows with the answers."""

    def __init__(self, names: Sequence[Label], *, is_open: bool) -> None:
        self.names = list(names)
        self.is_open = is_open
        self._codes = {name: code for code, name in enumerate(self.names)}

    def code(self, label: Any) -> int:
        """Code of one label, adding the class if the list is open."""
        name = clean_label(label)
        if name not in self._codes:
            if not self.is_open:
                known = ", ".join(map(repr, self.names[:10])) + (", …" if len(self.names) > 10 else "")
                raise LabelError(
                    f"A label must be one of the {len(self.names)} classes ({known}); got {name!r} "
                    f"({type(name).__name__}). Correct the answer, or name that class in classes=."
                )
            self._codes[name] = len(self.names)
            self.names.append(name)
        return self._codes[name]

    def codes(self, labels: Iterable[Any]) -> Ints:
        """Codes of many labels."""
        return np.fromiter((self.code(label) for label in labels), dtype=np.int64)
