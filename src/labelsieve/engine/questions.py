"""Whether a run goes on after a round, and what it asks then."""

from __future__ import annotations

from dataclasses import dataclass, replace

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.engine.entries import Asked, Role
from labelsieve.engine.methods import Methods
from labelsieve.engine.scoring import PoolScores
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.standing import Standing, Tally
from labelsieve.engine.stopping import Estimate, Prospects, reason_to_stop
from labelsieve.engine.thinning import select_and_thin
from labelsieve.engine.validation import ValidationPlan
from labelsieve.seeding import generator
from labelsieve.types import Array, Bools, Ints


@dataclass(frozen=True, eq=False)
class View:
    """A model, and what it says about the points without labels and about validation points that wait."""

    model: Classifier
    confidence: ConfidenceFunction
    x_train: Array
    rest: Ints
    waiting: Ints
    of_rest: PoolScores
    of_waiting: PoolScores

    def narrowed(self, rest: Bools, waiting: Bools) -> View:
        """Of these points alone."""
        return replace(
            self,
            rest=self.rest[rest],
            waiting=self.waiting[waiting],
            of_rest=self.of_rest.at(rest),
            of_waiting=self.of_waiting.at(waiting),
        )


class Questions:
    """Decides by what is in the ledger, and by what the current round will write there."""

    def __init__(
        self, methods: Methods, settings: RunSettings, plan: ValidationPlan, standing: Standing, prospects: Prospects
    ) -> None:
        self._methods = methods
        self._settings = settings
        self._plan = plan
        self._standing = standing
        self._prospects = prospects

    def reason_to_stop(self, tally: Tally, estimate: Estimate | None = None) -> str | None:
        """``estimate``: that of the current round, if it is not in the ledger yet."""
        return reason_to_stop(
            remaining=tally.remaining,
            untrained_labels=tally.untrained_labels,
            train_budget_left=self._standing.train_budget_left(),
            rounds=tally.rounds,
            max_rounds=self._settings.max_rounds,
            pays=self._prospects.asking_pays(estimate),
            validation_reason=self._plan.reason_to_stop(
                tally.tests, tally.held_out, tally.remaining, tally.validation_asked
            ),
        )

    def after_round(self, tally: Tally, view: View, estimate: Estimate | None) -> tuple[Asked | None, Ints]:
        """The next batch by the query strategy, or None if the run ends here; and which waiting validation points to
        give up for it."""
        n = min(self._standing.next_batch(), len(view.rest))
        if n <= 0 or self.reason_to_stop(tally, estimate) is not None:
            return None, view.waiting[:0]
        selection, given_up = select_and_thin(
            self._methods.query,
            view.of_rest.query_summary,
            view.of_waiting.query_summary,
            self._methods.query.summary(view.model.outputs(view.x_train)),
            n,
            generator(self._settings.random_state, "query", tally.rounds),
        )
        asked = Asked(tally.rounds, Role.TRAIN, view.rest[selection.rows], selection.probabilities)
        return asked, view.waiting[given_up]
