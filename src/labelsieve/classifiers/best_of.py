"""One of several classifiers, chosen by the labels they are trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from labelsieve.classifiers.base import Classifier, Progress
from labelsieve.classifiers.left_out import left_out_in_turn
from labelsieve.expectation import area_under_risk
from labelsieve.types import Array, Ints, Outputs


class BestOf(Classifier):
    """The one of its ``candidates`` whose probabilities tell best which labels of training points it has not seen it
    gets right; the first where so few labels cannot tell.

    Candidates differ in what suits the data, such as whether features are scaled. All training labels are used both to
    choose and to train, and no others.
    """

    gives_raw_logits: ClassVar[bool] = False

    def __init__(self, candidates: Sequence[Classifier]) -> None:
        self.candidates = candidates

    def __str__(self) -> str:
        """For people."""
        return f"one of {' | '.join(map(str, self.candidates))}"

    @property
    def unlabelled_wanted(self) -> int:
        return max(candidate.unlabelled_wanted for candidate in self.candidates)

    @property
    def trains_in_seconds(self) -> bool:
        return all(candidate.trains_in_seconds for candidate in self.candidates)

    def settled(self) -> Classifier:
        return self.chosen_.settled()

    def with_training(self, method: Any) -> BestOf:
        return BestOf([candidate.with_training(method) for candidate in self.candidates])

    def check(self, x: Array, n_classes: int) -> None:
        for candidate in self.candidates:
            candidate.check(x, n_classes)

    def fingerprint(self) -> str:
        return self.chosen_.fingerprint()

    def _fit(self, x: Array, y: Ints, n_classes: int, seed: int, progress: Progress) -> None:
        self._learn(x, y, n_classes, seed, progress, {})

    def _fit_with_unlabelled(
        self, x: Array, y: Ints, unlabelled: Array, n_classes: int, seed: int, progress: Progress
    ) -> None:
        if not self.unlabelled_wanted:
            return super()._fit_with_unlabelled(x, y, unlabelled, n_classes, seed, progress)
        self._learn(x, y, n_classes, seed, progress, {"unlabelled": unlabelled})

    def _learn(
        self, x: Array, y: Ints, n_classes: int, seed: int, progress: Progress, beside: dict[str, Array]
    ) -> None:
        best = self._best(x, y, n_classes, seed)
        self.chosen_: Classifier = clone(self.candidates[best])
        self.chosen_.fit(x, y, n_classes, seed=seed, progress=progress, **beside)
        chosen = f"{self.candidates[best]} was chosen"
        self.choice_ = f"{chosen}; {self.chosen_.choice_}" if self.chosen_.choice_ else chosen

    def _best(self, x: Array, y: Ints, n_classes: int, seed: int) -> int:
        """Its place among the candidates."""
        parts = left_out_in_turn(y, n_classes, seed)
        if not parts:
            return 0
        return int(np.argmin([_risk(candidate, parts, x, y, n_classes, seed) for candidate in self.candidates]))

    def _outputs(self, x: Array) -> Outputs:
        return self.chosen_._outputs(x)


def _risk(
    candidate: Classifier, parts: Sequence[tuple[Ints, Ints]], x: Array, y: Ints, n_classes: int, seed: int
) -> float:
    """How well a plain copy sorts its right predictions of points it has not seen from its wrong ones."""
    from labelsieve.classifiers.training.vanilla import Vanilla

    plain = candidate.with_training(Vanilla())
    confidence, right = np.empty(len(y)), np.empty(len(y), dtype=bool)
    for seen, unseen in parts:
        said = clone(plain).fit(x[seen], y[seen], n_classes, seed=seed).outputs(x[unseen])
        confidence[unseen], right[unseen] = said.top_probabilities, said.predicted == y[unseen]
    return area_under_risk(confidence, right)
