"""The costly steps of a run, handed out by the loop and performed by whoever drives it.

Keeping them apart from the loop's logic lets one driver do them one by one, and another gather those of many runs and
train them together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.base import clone

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.data.pool import Pool
from labelsieve.engine.entries import Role
from labelsieve.engine.points import Points
from labelsieve.engine.scoring import PoolScores, score_pool
from labelsieve.queries.base import Query
from labelsieve.types import Array, Ints, Outputs


@dataclass(frozen=True, eq=False)
class AskHumans:
    """The answers to all pending points are wanted in the ledger before the loop goes on."""

    points: Ints
    role: Role


@dataclass(frozen=True, eq=False)
class TrainClassifier:
    """A new classifier, trained on these points, is wanted back."""

    classifier: Classifier
    x: Array
    y: Ints
    n_classes: int
    seed: int
    unlabelled: Array | None = None
    """Points without labels, for a classifier that wants some."""

    @property
    def n_points(self) -> int:
        return len(self.x)

    def perform(self, progress: Callable[[float], None]) -> Classifier:
        wanted = {} if self.unlabelled is None else {"unlabelled": self.unlabelled}
        return self.unfitted().fit(self.x, self.y, self.n_classes, seed=self.seed, progress=progress, **wanted)

    def unfitted(self) -> Classifier:
        """A classifier of this request's own."""
        fresh: Classifier = clone(self.classifier)
        return fresh


@dataclass(frozen=True, eq=False)
class FitConfidence:
    """A new confidence function, fitted on these calibration points, is wanted back."""

    confidence: ConfidenceFunction
    outputs: Outputs
    y: Ints
    seed: int

    @property
    def n_points(self) -> int:
        return len(self.outputs)

    def perform(self) -> ConfidenceFunction:
        return self.unfitted().fit(self.outputs, self.y)

    def unfitted(self) -> ConfidenceFunction:
        """A confidence function of this request's own, its draws from this request's seed."""
        fresh: ConfidenceFunction = clone(self.confidence)
        if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
            fresh.set_params(random_state=self.seed)
        return fresh


@dataclass(frozen=True, eq=False)
class ScorePool:
    """Scores of these rows of the pool are wanted back."""

    pool: Pool | Points
    rows: Ints
    classifier: Classifier
    confidence: ConfidenceFunction
    query: Query

    def perform(self, progress: Callable[[int, int], None]) -> PoolScores:
        return score_pool(self.pool, self.rows, self.classifier, self.confidence, self.query, progress)


Request = AskHumans | TrainClassifier | FitConfidence | ScorePool
