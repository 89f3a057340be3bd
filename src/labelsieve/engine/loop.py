"""Algorithm 1 of the paper, as a generator: it yields what must be done (``requests``) and is sent the results."""

from __future__ import annotations

import math
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
from labelsieve.engine.modelling import Modelling
from labelsieve.engine.points import Points
from labelsieve.engine.progress import Observer
from labelsieve.engine.questions import Questions, View
from labelsieve.engine.requests import AskHumans, Request, ScorePool
from labelsieve.engine.scoring import PoolScores
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.standing import Standing
from labelsieve.engine.stopping import Prospects
from labelsieve.engine.validation import ValidationPlan
from labelsieve.errors import OneClassError, UnseenClassWarning
from labelsieve.queries.base import Selection
from labelsieve.seeding import generator
from labelsieve.types import Bools, Floats, HeldOutScores, Ints, RoundReport


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
        classes_declared: bool,
    ) -> None:
        self._all_points = Points(pool, given_validation, settings.random_state)
        self._modelling = Modelling(self._all_points, methods, settings, ledger, classes_declared)
        self._standing = Standing(ledger, settings, plan)
        self._prospects = Prospects(self._modelling, self._standing, settings, plan, ledger)
        self._questions = Questions(methods, settings, plan, self._standing, self._prospects)
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
        while (reason := self._questions.reason_to_stop(self._standing.now())) is None:
            if self._standing.training_classes().sum() < 2:
                yield from self._look_for_a_second_class()
            elif self._standing.untrained_labels() and self._standing.tests_now():
                yield from self._ask_fresh_validation()
                self._announce_round()
                yield from self._labelling_round()
            elif self._standing.untrained_labels():
                yield from self._learning_round()
            else:
                yield from self._ask_after_the_last_round()
        if self._settings.label_rest and len(self._ledger.state.unlabelled()):
            yield from self._ask_at_random(Role.REST, len(self._ledger.state.unlabelled()), "rest")
        return reason

    def _ask_fresh_validation(self) -> Generator[Request, Any, None]:
        number, n = self._ledger.state.rounds_closed + 1, self._standing.fresh_validation_to_ask()
        if n:
            yield from self._ask_at_random(Role.VALIDATION, n, f"validation for round {number}", number)

    def _learning_round(self) -> Generator[Request, Any, None]:
        """A round that only trains and asks: nothing is labelled by machine. If asking on is not expected to pay, it
        becomes the round that tests; no validation label is there to have a say in that."""
        state, started = self._ledger.state, time.perf_counter()
        number = state.rounds_closed + 1
        self._announce_round()
        view = yield from self._trained_and_scored(number)
        left = len(view.rest) - self._standing.fresh_validation_to_ask()
        estimate = self._prospects.estimate(view.confidence, [view.of_rest, view.of_waiting], 0, left)
        if not self._prospects.asking_pays(estimate):
            spent = time.perf_counter() - started
            yield from self._ask_fresh_validation()
            yield from self._labelling_round((view.model, view.confidence), spent)
            return
        asked, thinned = self._questions.after_round(
            self._standing.after_learning(number, len(view.rest)), view, estimate
        )
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
            model_fingerprint=view.model.fingerprint(),
            confidence_fallback=None,
            confidence_choice=None,
            seconds=time.perf_counter() - started,
            held_out=HeldOutScores(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)),
            expected_machine_labels=estimate.machine_labels,
            methods=self._methods.in_words(view.model),
        )
        self._ledger.append(Retired(number, thinned), RoundClosed(report), *([] if asked is None else [asked]))
        self._observer.round_closed(report)
        yield from self._answers_to_pending()

    def _trained_and_scored(self, number: int) -> Generator[Request, Any, View]:
        """The model of this round and what it says. Scores are learned only if they are to say whether asking pays."""
        state = self._ledger.state
        training, rest, held_out = state.training(), state.unlabelled(), state.validation()
        x_train = self._all_points.take(training)
        model: Classifier = yield self._modelling.training_request(training, x_train, number)
        confidence: ConfidenceFunction = Softmax()
        if self._settings.stop_early:
            confidence = yield from self._modelling.confidence(model, training, x_train, held_out[:0], number)
        waiting = held_out if self._plan.kind == "folds" else held_out[:0]
        of_rest, of_waiting = yield from self._scores([rest, waiting], model, confidence)
        return View(model, confidence, x_train, rest, waiting, of_rest, of_waiting)

    def _labelling_round(
        self, fitted: tuple[Classifier, ConfidenceFunction] | None = None, spent: float = 0.0
    ) -> Generator[Request, Any, None]:
        """``fitted``: classifier and confidence function of this round, if ``spent`` seconds went into them already."""
        state, started = self._ledger.state, time.perf_counter()
        number = state.rounds_closed + 1
        training = state.training()
        seen = self._standing.training_classes()
        self._warn_of_unseen(seen)
        x_train = self._all_points.take(training)

        validation, waiting = self._held_out_now_and_later()
        seed = self._settings.random_state
        is_calibration = self._methods.calibration_mask(self._settings, len(validation), seed, number)
        calibration = validation[is_calibration]
        if fitted is None:
            model: Classifier = yield self._modelling.training_request(training, x_train, number)
            confidence = yield from self._modelling.confidence(model, training, x_train, calibration, number)
        else:
            model, confidence = fitted
        fingerprint = model.fingerprint()
        rows = state.unlabelled()
        scored, held_out_scored, waiting_scored = yield from self._scores(
            [rows, validation, waiting], model, confidence
        )
        evidence = self._threshold_evidence(held_out_scored, validation, ~is_calibration)
        everything = np.concatenate([scored.score, held_out_scored.score, waiting_scored.score])
        expected = confidence.coverage_to_test(everything, self._settings.tolerance)
        thresholds = self._thresholds(evidence, scored, waiting_scored, seen, expected)
        accepted = scored.score >= thresholds[scored.predicted]
        in_region = held_out_scored.score >= thresholds[held_out_scored.predicted]
        waits_on = ~(waiting_scored.score >= thresholds[waiting_scored.predicted])
        left = View(model, confidence, x_train, rows, waiting, scored, waiting_scored).narrowed(~accepted, waits_on)
        if self._plan.single_use:  # decided before the test, as labels to check with are asked for afterwards
            estimate = self._prospects.estimate(confidence, [scored, held_out_scored, waiting_scored], 0, len(rows))
        else:
            estimate = self._prospects.estimate(confidence, [left.of_rest], int(accepted.sum()), len(left.rest))
        held_out_left = len(left.waiting) if self._plan.single_use else int((~in_region).sum())
        asked, thinned = self._questions.after_round(
            self._standing.after_labelling(number, len(left.rest), held_out_left), left, estimate
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
            remaining=len(left.rest),
            queried_next=0 if asked is None else len(asked.points),
            model_fingerprint=fingerprint,
            confidence_fallback=confidence.fallback_,
            confidence_choice=confidence.choice_,
            seconds=spent + time.perf_counter() - started,
            held_out=evidence,
            expected_machine_labels=estimate.machine_labels,
            methods=self._methods.in_words(model),
        )
        self._ledger.append(
            Assigned(number, Role.CALIBRATION, calibration),
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
        tests_left = int(self._plan.max_tests) - self._standing.tests_done()
        rng = generator(self._settings.random_state, "fold", self._ledger.state.rounds_closed + 1)
        order = rng.permutation(len(validation))
        size = math.ceil(len(validation) / tests_left)
        return validation[np.sort(order[:size])], validation[np.sort(order[size:])]

    def _scores(
        self, parts: list[Ints], model: Classifier, confidence: ConfidenceFunction
    ) -> Generator[Request, Any, list[PoolScores]]:
        """Scores of several sets of points, computed in one pass that does not know which is which."""
        points = np.concatenate(parts)
        order = self._all_points.reading_order(points)
        scored: PoolScores = yield ScorePool(self._all_points, points[order], model, confidence, self._methods.query)
        back = np.argsort(order, kind="stable")
        ends = np.cumsum([len(part) for part in parts])
        return [scored.at(here) for here in np.split(back, ends[:-1])]

    def _thresholds(
        self,
        evidence: HeldOutScores,
        scored: PoolScores,
        waiting: PoolScores,
        seen: Bools,
        expected_coverage: float | None,
    ) -> Floats:
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
            expected_coverage=expected_coverage,
        )

    def _ask_after_the_last_round(self) -> Generator[Request, Any, None]:
        """A run that had ended is given more budget or rounds: train its last model again and ask the question that
        would have followed. No threshold is tried a second time on the same labels."""
        number = self._ledger.state.rounds_closed
        self._observer.round_started(number, len(self._ledger.state.training()))
        view = yield from self._trained_and_scored(number)
        asked, thinned = self._questions.after_round(self._standing.after_learning(number, len(view.rest)), view, None)
        if asked is not None:
            self._ledger.append(Retired(number, thinned), asked)
        yield from self._answers_to_pending()

    def _look_for_a_second_class(self) -> Generator[Request, Any, None]:
        """A classifier needs two classes: ask on at random until there are, or the budget ends."""
        state = self._ledger.state
        n = min(self._standing.next_batch(), len(state.unlabelled()))
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

    def _announce_round(self) -> None:
        self._observer.round_started(self._ledger.state.rounds_closed + 1, len(self._ledger.state.training()))

    def _threshold_evidence(self, scored: PoolScores, validation: Ints, is_threshold: Bools) -> HeldOutScores:
        predicted = scored.predicted[is_threshold]
        truth = self._ledger.state.label[validation[is_threshold]]
        return HeldOutScores(scored.score[is_threshold], predicted, predicted == truth)

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
