"""A run in progress: opened, advanced from one costly step to the next, finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from labelsieve import registry
from labelsieve.annotators.base import Annotator, as_annotator
from labelsieve.data.classes import ClassCodes, declared_classes
from labelsieve.data.embeddings import efficientnet
from labelsieve.data.pool import Pool, as_pool
from labelsieve.engine.asking import ask
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.looking import as_the_classifier_sees_them, is_seen, look_at
from labelsieve.engine.loop import Loop
from labelsieve.engine.methods import compose, needs_network
from labelsieve.engine.opening import given_validation, open_ledger
from labelsieve.engine.progress import Observer, bars_if_terminal
from labelsieve.engine.requests import AskHumans, FitConfidence, ScorePool, TrainClassifier
from labelsieve.engine.run import Run
from labelsieve.engine.settings import checked_settings
from labelsieve.engine.sharding import score_in_shards
from labelsieve.engine.state import HUMAN
from labelsieve.errors import ConfigurationError
from labelsieve.executors import Executor, LocalExecutor, as_executor, ready
from labelsieve.types import Label

CostlyStep = TrainClassifier | FitConfidence | ScorePool


class RunInProgress:
    """The loop of one run and whoever answers its questions. What is costly is left to the caller."""

    def __init__(
        self,
        loop: Loop,
        annotator: Annotator,
        pool: Pool,
        codes: ClassCodes,
        ledger: Ledger,
        observer: Observer,
        executor: Any,
        facts: Mapping[str, Any],
        seen: Sequence[Pool],
    ) -> None:
        self._seen = seen
        self._steps = loop.steps()
        self._annotator = annotator
        self._pool = pool
        self._codes = codes
        self.ledger = ledger
        self._observer = observer
        self._executor = executor
        self.facts = facts
        self._reason: str | None = None

    def to_the_end(self) -> Run:
        """Perform one step after the other."""
        with ready(self._executor) as executor, self._observer:
            self.look(self._observer)
            step = self.advance(None)
            while step is not None:
                with self.keeping_answers():
                    result = self._perform(step, executor)
                step = self.advance(result)
        return self.finished()

    def look(self, observer: Observer) -> None:
        """What takes long and must be done before the first step."""
        with self.keeping_answers():
            for pool in self._seen:
                look_at(pool, observer.looking)

    def advance(self, result: Any) -> CostlyStep | None:
        """Hand in the result of the last step and go on, asking humans on the way; None once the run has ended."""
        with self.keeping_answers():
            while True:
                try:
                    request = self._steps.send(result)
                except StopIteration as end:
                    self._reason = str(end.value)
                    return None
                if not isinstance(request, AskHumans):
                    return request
                self._observer.asking(len(request.points), request.role)
                ask(self._annotator, self._pool.ids[request.points], request.points, self._codes, self.ledger)
                result = None

    def finished(self) -> Run:
        """The outcome; the run must have ended."""
        assert self._reason is not None
        return self.so_far(self._reason)

    def so_far(self, reason: str) -> Run:
        """What there is, and why there is no more."""
        return Run(self.ledger.copy(), self._pool.ids, reason, self.facts)

    @property
    def rounds_closed(self) -> int:
        """How many rounds are over."""
        return self.ledger.state.rounds_closed

    @contextmanager
    def keeping_answers(self) -> Iterator[None]:
        """Whatever goes wrong inside, the exception brings the ledger along: human answers are never lost."""
        try:
            yield
        except Exception as error:
            if getattr(error, "ledger", None) is None:
                error.ledger = self.ledger  # type: ignore[attr-defined]
                answered = int((self.ledger.state.source == HUMAN).sum())
                error.add_note(f"All {answered:,} labels answered so far are kept; continue with ledger=error.ledger.")
            raise

    def _perform(self, step: CostlyStep, executor: Executor) -> Any:
        match step:
            case TrainClassifier():
                return step.perform(self._observer.training)
            case FitConfidence():
                return step.perform()
            case ScorePool():
                if isinstance(executor, LocalExecutor):
                    return step.perform(self._observer.scoring)
                return score_in_shards(step, executor, self._observer.scoring)


def open_run(
    pool: Any,
    annotator: Any,
    *,
    classes: int | Iterable[Label] | None,
    tolerance: float,
    delta: float,
    train_budget: int,
    validation_budget: int,
    seed_size: int | None,
    batch_size: int | None,
    classifier: Any,
    training: Any,
    confidence: Any,
    thresholds: Any,
    query: Any,
    calibration_fraction: float,
    validation: tuple[Any, Any] | None,
    validation_reuse: str,
    certified_rounds: int,
    max_rounds: int | None,
    stop_early: bool | str,
    label_rest: bool,
    ledger: Ledger | Run | None,
    random_state: int,
    device: str,
    progress: bool | Observer,
    executor: Any,
) -> RunInProgress:
    """A run about to begin or to go on, everything checked that can be; ``autolabel`` says what the names mean."""
    pool = as_pool(pool)
    answering = as_annotator(annotator)
    names = declared_classes(classes)
    n_classes = None if names is None else len(names)
    given, given_labels = given_validation(validation, pool)
    settings = checked_settings(
        pool_size=len(pool),
        n_given_validation=len(given_labels),
        n_classes=n_classes,
        tolerance=tolerance,
        delta=delta,
        train_budget=train_budget,
        validation_budget=validation_budget,
        certified_rounds=certified_rounds,
        seed_size=seed_size,
        batch_size=batch_size,
        calibration_fraction=calibration_fraction,
        max_rounds=max_rounds,
        label_rest=label_rest,
        random_state=random_state,
        stop_early=stop_early,
    )
    points, given_points, classifier = as_the_classifier_sees_them(
        pool, given, classifier, needs_network(training, confidence), device
    )
    methods = compose(
        points,
        settings,
        device,
        classifier=classifier,
        training=training,
        confidence=confidence,
        thresholds=thresholds,
        query=query,
    )
    seen = [part for part in (points, given_points) if part is not None and is_seen(part)]
    as_executor(executor)  # refused before anybody is asked, if it cannot be
    if stop_early == registry.AUTO:
        stop_early = methods.stops_early_by_itself(settings, validation_reuse, is_given=given is not None)
    if stop_early:
        settings = settings.stopping_early(seed_size, batch_size, n_classes)
    plan = methods.plan(settings, validation_reuse, is_given=given is not None)
    methods.refuse_what_cannot_work(settings, plan, points, n_classes)
    if plan.kind == "folds" and names is None:
        raise ConfigurationError(
            "Name the classes (classes=...): with validation labels there beforehand, learning the classes from the "
            "labels would let these shape the model they are to judge."
        )
    ledger = _own_ledger(ledger)
    rule = f"{type(methods.thresholds).__name__}, {plan.kind} validation labels,"
    codes = open_ledger(ledger, pool, given, given_labels, names, settings, rule)
    observer = progress if isinstance(progress, Observer) else bars_if_terminal(progress)
    loop = Loop(points, given_points, methods, settings, plan, ledger, observer, classes_declared=names is not None)
    certified = methods.thresholds.certifies and plan.single_use
    facts = {**asdict(settings), **methods.in_words(), "certified": certified}
    if settings.batch_size is None:
        facts["batch_size"] = "a quarter of the labels there are"
    if seen:
        facts["points"] = f"images as {efficientnet.BEST} sees them"
    return RunInProgress(loop, answering, pool, codes, ledger, observer, executor, facts, seen)


def _own_ledger(ledger: Ledger | Run | None) -> Ledger:
    """A finished run keeps its ledger as it is: continuing it works on a replayed copy."""
    if isinstance(ledger, Run):
        return ledger.ledger.copy()
    if ledger is not None and not isinstance(ledger, Ledger):
        raise ConfigurationError(f"ledger must be an ls.Ledger or a run; got {type(ledger).__name__}.")
    return Ledger() if ledger is None else ledger
