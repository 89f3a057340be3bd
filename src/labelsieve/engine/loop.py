"""Algorithm 1 of the paper, as a generator: it yields what must be done (``requests``) and is sent the results."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator
from typing import Any

import numpy as np

from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.confidence.softmax import Softmax
from labelsieve.data.pool import Pool
from labelsieve.engine.entries import Asked, Assigned, MachineLabelled, Retired, Role, RoundClosed
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.methods import Methods
from labelsieve.engine.progress import Observer
from labelsieve.engine.requests import AskHumans, FitConfidence, Request, ScorePool, TrainClassifier
from labelsieve.engine.scoring import PoolScores
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.stopping import reason_to_stop
from labelsieve.engine.thinning import select_and_thin
from labelsieve.engine.validation import ValidationPlan
from labelsieve.errors import OneClassError, UnseenClassWarning
from labelsieve.queries.base import Selection
from labelsieve.seeding import generator, integer_seed
from labelsieve.types import Array, Bools, Floats, HeldOutScores, Ints, Outputs, RoundReport


class Loop:
    """One run over one pool. All it remembers between steps is in the ledger, so a new loop can go on from there.

    The entries of a round, the next question included, are appended together: a run that was cut off anywhere goes
    on as if it had not been.
    """

    def __init__(
        self,
        pool: Pool,
        given_validation: Pool | None,
        methods: Methods,
        settings: RunSettings,
        plan: ValidationPlan,
        ledger: Ledger,
        observer: Observer,
    ) -> None:
        self._pool = pool
        self._given_validation = given_validation
        self._methods = methods
        self._settings = settings
        self._plan = plan
        self._ledger = ledger
        self._observer = observer

    def steps(self) -> Generator[Request, Any, str]:
        """Run to the end; returns why it ended."""
        yield from self._answers_to_pending()
        if self._plan.at_start and not self._ledger.state.asked_for(Role.VALIDATION):
            yield from self._ask_at_random(Role.VALIDATION, self._plan.at_start, "validation")
        if not self._ledger.state.asked_for(Role.TRAIN):
            yield from self._ask_at_random(Role.TRAIN, self._settings.seed_size, "seed batch")
        while (reason := self._reason_to_stop()) is None:
            if self._training_classes().sum() < 2:
                yield from self._look_for_a_second_class()
            elif self._untrained_labels() and self._plan.tests(self._ledger.state.rounds_closed + 1):
                yield from self._ask_fresh_validation()
                yield from self._labelling_round()
            elif self._untrained_labels():
                yield from self._learning_round()
            else:
                yield from self._ask_after_the_last_round()
        if self._settings.label_rest and len(self._ledger.state.unlabelled()):
            yield from self._ask_at_random(Role.REST, len(self._ledger.state.unlabelled()), "rest")
        return reason

    def _ask_fresh_validation(self) -> Generator[Request, Any, None]:
        number = self._ledger.state.rounds_closed + 1
        already = (self._ledger.state.round_number == number) & (self._ledger.state.role == Role.VALIDATION)
        n = min(self._plan.per_test, len(self._ledger.state.unlabelled()))
        if self._plan.kind == "fresh" and n and not already.any():
            yield from self._ask_at_random(Role.VALIDATION, n, f"validation for round {number}", number)

    def _learning_round(self) -> Generator[Request, Any, None]:
        """A round that only trains and asks: nothing is labelled by machine."""
        state, started = self._ledger.state, time.perf_counter()
        number = state.rounds_closed + 1
        model, asked, thinned = yield from self._train_and_choose(number)
        report = RoundReport(
            number=number,
            train_points=len(state.training()),
            calibration_points=0,
            threshold_points=0,
            thresholds=np.full(len(state.classes), np.inf),
            machine_labelled=0,
            retired_validation=len(thinned),
            remaining=len(state.unlabelled()),
            queried_next=0 if asked is None else len(asked.points),
            model_fingerprint=model.fingerprint(),
            confidence_fallback=None,
            seconds=time.perf_counter() - started,
            held_out=HeldOutScores(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)),
        )
        self._ledger.append(Retired(number, thinned), RoundClosed(report), *([] if asked is None else [asked]))
        self._observer.round_closed(report)
        yield from self._answers_to_pending()

    def _train_and_choose(self, number: int) -> Generator[Request, Any, tuple[Classifier, Asked | None, Ints]]:
        """The model of this round, the question that follows from it when nothing is labelled by machine, and the
        validation points to give up for it."""
        state = self._ledger.state
        training, rest = state.training(), state.unlabelled()
        self._observer.round_started(number, len(training))
        x_train = self._points(training)
        model: Classifier = yield self._training_request(training, x_train, number)
        scored: PoolScores = yield ScorePool(self._pool, rest, model, Softmax(), self._methods.query)
        held_out = state.validation()
        waiting = held_out if self._plan.kind == "folds" else held_out[:0]
        waiting_summary = self._scored(waiting, model, Softmax()).query_summary
        asked, thinned = self._next_question(
            number, rest, scored.query_summary, waiting, waiting_summary, model, x_train, len(held_out)
        )
        return model, asked, thinned

    def _labelling_round(self) -> Generator[Request, Any, None]:
        state, methods, started = self._ledger.state, self._methods, time.perf_counter()
        number = state.rounds_closed + 1
        training = state.training()
        self._observer.round_started(number, len(training))
        seen = self._training_classes()
        self._warn_of_unseen(seen)
        x_train = self._points(training)
        model: Classifier = yield self._training_request(training, x_train, number)
        fingerprint = model.fingerprint()

        validation, waiting = self._held_out_now_and_later()
        is_calibration = self._calibration_mask(len(validation), number)
        outputs = model.outputs(self._points(validation))
        confidence: ConfidenceFunction = yield FitConfidence(
            methods.confidence,
            outputs[is_calibration],
            state.label[validation[is_calibration]],
            self._seed("confidence", number),
        )
        held_out_scores = confidence.score(outputs)
        evidence = self._threshold_evidence(outputs, held_out_scores, validation, ~is_calibration)
        rows = state.unlabelled()
        scored: PoolScores = yield ScorePool(self._pool, rows, model, confidence, methods.query)
        waiting_scored = self._scored(waiting, model, confidence)
        thresholds = self._thresholds(evidence, scored, waiting_scored, seen)
        accepted = scored.score >= thresholds[scored.predicted]
        in_region = held_out_scores >= thresholds[outputs.predicted]
        waits_on = ~(waiting_scored.score >= thresholds[waiting_scored.predicted])
        rest, later = rows[~accepted], waiting[waits_on]
        asked, thinned = self._next_question(
            number,
            rest,
            scored.query_summary[~accepted],
            later,
            waiting_scored.query_summary[waits_on],
            model,
            x_train,
            len(later) if self._plan.single_use else int((~in_region).sum()),
        )
        leaving = validation if self._plan.single_use else validation[in_region]
        retired = np.concatenate([leaving, waiting[~waits_on], thinned])
        report = RoundReport(
            number=number,
            train_points=len(training),
            calibration_points=int(is_calibration.sum()),
            threshold_points=int((~is_calibration).sum()),
            thresholds=thresholds,
            machine_labelled=int(accepted.sum()),
            retired_validation=len(retired),
            remaining=len(rest),
            queried_next=0 if asked is None else len(asked.points),
            model_fingerprint=fingerprint,
            confidence_fallback=confidence.fallback_,
            seconds=time.perf_counter() - started,
            held_out=evidence,
        )
        self._ledger.append(
            Assigned(number, Role.CALIBRATION, validation[is_calibration]),
            Assigned(number, Role.THRESHOLD, validation[~is_calibration]),
            MachineLabelled(
                number,
                rows[accepted],
                scored.predicted[accepted],
                scored.score[accepted],
                thresholds[scored.predicted[accepted]],
                fingerprint,
            ),
            Retired(number, retired),
            RoundClosed(report),
            *([] if asked is None else [asked]),
        )
        self._observer.round_closed(report)
        yield from self._answers_to_pending()

    def _held_out_now_and_later(self) -> tuple[Ints, Ints]:
        """Validation points for the test of this round, and those that wait for a later one."""
        state = self._ledger.state
        validation = state.validation()
        if self._plan.kind != "folds":
            return validation, validation[:0]
        dealt = state.ever_validation()
        fold = np.empty(len(state.label), dtype=np.int64)
        order = generator(self._settings.random_state, "folds").permutation(len(dealt))
        fold[dealt[order]] = np.arange(len(dealt)) % int(self._plan.max_tests)
        now = fold[validation] == self._tests_done()
        return validation[now], validation[~now]

    def _scored(self, points: Ints, model: Classifier, confidence: ConfidenceFunction) -> PoolScores:
        """Held-out points seen as if they were in the pool."""
        if not len(points):
            return PoolScores(points, np.empty(0), np.empty(0))
        outputs = model.outputs(self._points(points))
        return PoolScores(outputs.predicted, confidence.score(outputs), self._methods.query.summary(outputs))

    def _thresholds(self, evidence: HeldOutScores, scored: PoolScores, waiting: PoolScores, seen: Bools) -> Floats:
        """By the rule, for the classes the model has seen: it never labels another by machine."""
        return self._methods.thresholds.estimate(
            evidence.scores,
            evidence.predicted,
            evidence.correct,
            len(seen),
            pool_scores=np.concatenate([scored.score, waiting.score]),
            pool_predicted=np.concatenate([scored.predicted, waiting.predicted]),
            n_waiting=len(waiting.score),
            may_label=seen,
        )

    def _next_question(
        self,
        number: int,
        rest: Ints,
        summary: Array,
        waiting: Ints,
        waiting_summary: Array,
        model: Classifier,
        x_train: Array,
        validation_left: int,
    ) -> tuple[Asked | None, Ints]:
        """The next batch by the query strategy, or None if the run ends here; and which waiting validation points to
        give up for it."""
        n = min(self._settings.batch_size, self._train_budget_left(), len(rest))
        if n <= 0 or self._reason_to_stop(len(rest), 0, number, validation_left) is not None:
            return None, waiting[:0]
        selection, given_up = select_and_thin(
            self._methods.query,
            summary,
            waiting_summary,
            self._methods.query.summary(model.outputs(x_train)),
            n,
            generator(self._settings.random_state, "query", number),
        )
        return Asked(number, Role.TRAIN, rest[selection.rows], selection.probabilities), waiting[given_up]

    def _ask_after_the_last_round(self) -> Generator[Request, Any, None]:
        """A run that had ended is given more budget or rounds: train its last model again and ask the question that
        would have followed. No threshold is tried a second time on the same labels."""
        number = self._ledger.state.rounds_closed
        _, asked, thinned = yield from self._train_and_choose(number)
        if asked is not None:
            self._ledger.append(Retired(number, thinned), asked)
        yield from self._answers_to_pending()

    def _look_for_a_second_class(self) -> Generator[Request, Any, None]:
        """A classifier needs two classes: ask on at random until there are, or the budget ends."""
        state = self._ledger.state
        n = min(self._settings.batch_size, self._train_budget_left(), len(state.unlabelled()))
        if n <= 0:
            (only,) = (state.classes[code] for code in np.unique(state.label[state.training()]))
            raise OneClassError(
                f"Training needs at least two classes; all {len(state.training())} answers were {only!r}. If there "
                "really are others, raise train_budget and continue with ledger=error.ledger.",
                self._ledger,
            )
        yield from self._ask_at_random(Role.TRAIN, n, f"second class {len(state.training())}")

    def _ask_at_random(
        self, role: Role, n: int, purpose: str, round_number: int | None = None
    ) -> Generator[Request, Any, None]:
        candidates = self._ledger.state.unlabelled()
        rng = generator(self._settings.random_state, purpose)
        selection = Selection(rng.choice(len(candidates), size=n, replace=False), np.full(n, n / len(candidates)))
        self._ledger.append(
            Asked(
                self._ledger.state.rounds_closed if round_number is None else round_number,
                role,
                candidates[selection.rows],
                selection.probabilities,
            )
        )
        yield from self._answers_to_pending()

    def _answers_to_pending(self) -> Generator[Request, Any, None]:
        pending = self._ledger.state.pending()
        if len(pending):
            yield AskHumans(pending, Role(int(self._ledger.state.role[pending[0]])))

    def _reason_to_stop(
        self,
        remaining: int | None = None,
        untrained_labels: int | None = None,
        rounds: int | None = None,
        validation_left: int | None = None,
    ) -> str | None:
        """As things stand in the ledger, or as they will stand once the current round is written down."""
        state = self._ledger.state
        held_out = len(state.validation()) if validation_left is None else validation_left
        left = len(state.unlabelled()) if remaining is None else remaining
        after = state.rounds_closed if rounds is None else rounds
        return reason_to_stop(
            remaining=left,
            untrained_labels=self._untrained_labels() if untrained_labels is None else untrained_labels,
            train_budget_left=self._train_budget_left(),
            rounds=after,
            max_rounds=self._settings.max_rounds,
            validation_reason=self._plan.reason_to_stop(after, self._tests_done(), held_out, left),
        )

    def _untrained_labels(self) -> int:
        """Answers no model has learned from yet."""
        reports = self._ledger.rounds
        return len(self._ledger.state.training()) - (reports[-1].train_points if reports else 0)

    def _tests_done(self) -> int:
        return sum(report.threshold_points > 0 for report in self._ledger.rounds)

    def _train_budget_left(self) -> int:
        return self._settings.train_budget - self._ledger.state.asked_for(Role.TRAIN)

    def _calibration_mask(self, n_validation: int, number: int) -> Bools:
        mask = np.zeros(n_validation, dtype=bool)
        rng = generator(self._settings.random_state, "calibration split", number)
        mask[rng.permutation(n_validation)[: self._methods.n_calibration(self._settings, n_validation)]] = True
        return mask

    def _threshold_evidence(
        self, outputs: Outputs, scores: Floats, validation: Ints, is_threshold: Bools
    ) -> HeldOutScores:
        predicted = outputs.predicted[is_threshold]
        truth = self._ledger.state.label[validation[is_threshold]]
        return HeldOutScores(scores[is_threshold], predicted, predicted == truth)

    def _training_classes(self) -> Bools:
        """Which classes have a training label."""
        state = self._ledger.state
        seen = np.zeros(len(state.classes), dtype=bool)
        seen[state.label[state.training()]] = True
        return seen

    def _warn_of_unseen(self, seen: Bools) -> None:
        unseen = [repr(self._ledger.state.classes[code]) for code in np.flatnonzero(~seen)]
        if unseen:
            shown = ", ".join(unseen[:10]) + (", …" if len(unseen) > 10 else "")
            warnings.warn(
                f"No training label yet, so no machine labels this round, for {len(unseen)} of {len(seen)} classes: "
                f"{shown}.",
                UnseenClassWarning,
                stacklevel=2,
            )

    def _points(self, points: Ints) -> Array:
        """Points of the pool, or of the validation data given up front; never a mixture."""
        if self._given_validation is not None and len(points) and points[0] >= len(self._pool):
            return self._given_validation.take(points - len(self._pool))
        return self._pool.take(points)

    def _training_request(self, training: Ints, x_train: Array, number: int) -> TrainClassifier:
        state, seed = self._ledger.state, self._seed("classifier", number)
        return TrainClassifier(self._methods.classifier, x_train, state.label[training], len(state.classes), seed)

    def _seed(self, purpose: str, number: int) -> int:
        return integer_seed(self._settings.random_state, purpose, number)
