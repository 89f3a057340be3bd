"""What every classifier shares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import BaseEstimator, clone

from labelsieve.classifiers.neighbours import LabelledNeighbours
from labelsieve.errors import ConfigurationError, NotFittedError
from labelsieve.types import Array, Ints, Outputs

Progress = Callable[[float], None]


class Classifier(ABC, BaseEstimator):  # type: ignore[misc]
    """Learns class codes from points and says what it thinks of others.

    To add one: a subclass that stores its parameters unchanged and implements ``_fit``, ``_outputs``, ``check``,
    ``with_training`` and ``fingerprint``; a line in ``registry.py``; a subclass of ``ClassifierContract`` in
    ``tests/contracts``; a row in ``docs/methods.md``. Inputs are scaled inside, by what the training points
    show.
    """

    gives_raw_logits: ClassVar[bool] = True
    """False where logits are log-probabilities, which add up to one."""

    choice_: str | None = None
    """What a fitted one has chosen by its training labels, in words, if it chooses anything."""

    @property
    def trains_in_seconds(self) -> bool:
        """Whether a run may train several in each round without being told to."""
        return False

    @property
    def unlabelled_wanted(self) -> int:
        """How many points without labels ``fit`` can make use of; 0 for none."""
        return 0

    def settled(self) -> Classifier:
        """Unfitted, with the choices this fitted one has made by its training labels. Folds of these then tell how such
        a classifier does."""
        copied: Classifier = clone(self)
        return copied

    @final
    def fit(
        self,
        x: Array,
        y: Ints,
        n_classes: int,
        *,
        seed: int,
        progress: Progress | None = None,
        unlabelled: Array | None = None,
    ) -> Self:
        """Train on points and their class codes (codes without a point are allowed), and on points without labels if
        ``unlabelled_wanted``."""
        if unlabelled is None:
            self._fit(x, y, n_classes, seed, progress or _unwatched)
        else:
            self._fit_with_unlabelled(x, y, unlabelled, n_classes, seed, progress or _unwatched)
        self._remember(x, y, n_classes)
        return self

    @final
    @classmethod
    def fit_stack(
        cls,
        members: Sequence[Self],
        xs: Sequence[Array],
        ys: Sequence[Ints],
        n_classes: int,
        *,
        seeds: Sequence[int],
        progress: Progress | None = None,
    ) -> None:
        """Train members with one ``stack_key`` on points of their own, all at once."""
        cls._fit_stack(members, xs, ys, n_classes, seeds, progress or _unwatched)
        for member, x, y in zip(members, xs, ys, strict=True):
            member._remember(x, y, n_classes)

    @final
    def outputs(self, x: Array) -> Outputs:
        """Logits and the layer before, for any points; and evidence, once somebody asks for it."""
        if not hasattr(self, "n_classes_"):
            raise NotFittedError(f"{type(self).__name__} must be fitted before it predicts.")
        said = self._checked(self._outputs(x), self.n_classes_)
        return replace(said, find_evidence=lambda: self._neighbours().evidence(said))

    @abstractmethod
    def check(self, x: Array, n_classes: int) -> None:
        """Raise ``ConfigurationError`` if this (unfitted) classifier cannot take points like these; nobody has been
        asked for a label yet."""

    def stack_key(self, x: Array, n_classes: int) -> Hashable:
        """Classifiers with the same key can be trained on points like these as one; None if this one cannot."""
        return None

    def members_at_once(self, x: Array, n_classes: int) -> int:
        """How many classifiers with this key to train as one."""
        return 1

    @abstractmethod
    def fingerprint(self) -> str:
        """Short hash of what was learned; the same for the same model."""

    @abstractmethod
    def with_training(self, method: Any) -> Classifier:
        """A copy that trains by this train-time method; raises if it cannot."""

    @final
    def _remember(self, x: Array, y: Ints, n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.taught_ = x, y
        self.neighbours_: LabelledNeighbours | None = None

    @final
    def _neighbours(self) -> LabelledNeighbours:
        """Built when first needed: plain scores never are."""
        if self.neighbours_ is None:
            x, y = self.taught_
            self.neighbours_ = LabelledNeighbours(self._outputs(x).features, y, self.n_classes_)
        return self.neighbours_

    @final
    @staticmethod
    def _checked(outputs: Outputs, n_classes: int) -> Outputs:
        """The outputs, unless they cannot be used."""
        if outputs.logits.shape[1] != n_classes:
            raise ConfigurationError(
                f"The classifier must give one logit per class, {n_classes} in all; got {outputs.logits.shape[1]}."
            )
        if not np.isfinite(outputs.logits).all():
            raise ConfigurationError(
                "The classifier's outputs are not finite numbers: its training diverged. Lower its learning rate."
            )
        return outputs

    @abstractmethod
    def _fit(self, x: Array, y: Ints, n_classes: int, seed: int, progress: Progress) -> None: ...

    def _fit_with_unlabelled(
        self, x: Array, y: Ints, unlabelled: Array, n_classes: int, seed: int, progress: Progress
    ) -> None:
        """Only called with points that were wanted; such classes learn from them."""
        raise ConfigurationError(
            f"{type(self).__name__} was given {len(unlabelled):,} points without labels and learns from labelled ones "
            "only. Leave unlabelled out, or choose a train-time method that wants them, such as 'semi-supervised'."
        )

    @classmethod
    def _fit_stack(
        cls,
        members: Sequence[Self],
        xs: Sequence[Array],
        ys: Sequence[Ints],
        n_classes: int,
        seeds: Sequence[int],
        progress: Progress,
    ) -> None:
        """Only called where ``stack_key`` is not None; such classes do it as one."""
        for member, x, y, seed in zip(members, xs, ys, seeds, strict=True):
            member._fit(x, y, n_classes, seed, progress)

    @abstractmethod
    def _outputs(self, x: Array) -> Outputs: ...


def _unwatched(_share: float) -> None:
    return None


def flattened(x: Array) -> Array:
    """Points as rows of numbers."""
    return np.asarray(x).reshape(len(x), prod(x.shape[1:]))
