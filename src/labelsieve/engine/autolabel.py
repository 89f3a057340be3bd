"""``autolabel``: from names and numbers to a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from labelsieve.annotators.base import Annotator, as_annotator
from labelsieve.data.classes import ClassCodes, declared_classes
from labelsieve.data.pool import Pool, as_pool
from labelsieve.engine.asking import ask
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.loop import Loop
from labelsieve.engine.methods import certifies, compose
from labelsieve.engine.opening import given_validation, open_ledger
from labelsieve.engine.progress import Observer, bars_if_terminal
from labelsieve.engine.requests import AskHumans, FitConfidence, ScorePool, TrainClassifier
from labelsieve.engine.run import Run
from labelsieve.engine.settings import checked_settings
from labelsieve.engine.state import HUMAN
from labelsieve.errors import ConfigurationError
from labelsieve.types import Label


def autolabel(
    pool: Any,
    annotator: Any,
    *,
    classes: int | Iterable[Label] | None = None,
    tolerance: float = 0.05,
    delta: float = 0.05,
    train_budget: int = 500,
    validation_budget: int = 500,
    seed_size: int | None = None,
    batch_size: int | None = None,
    classifier: Any = "auto",
    training: Any = "vanilla",
    confidence: Any = "softmax",
    thresholds: Any = "certified",
    query: Any = "margin-random",
    calibration_fraction: float = 0.5,
    validation: tuple[Any, Any] | None = None,
    validation_reuse: str = "fresh",
    certified_rounds: int = 1,
    max_rounds: int | None = None,
    label_rest: bool = False,
    ledger: Ledger | Run | None = None,
    random_state: int = 0,
    device: str = "auto",
    progress: bool | Observer = True,
) -> Run:
    """Label a pool with few human labels and as many machine labels as the tolerance allows.

    pool: features (n, d), images (n, h, w[, c]), the path of a .npy or .parquet file or of a folder of images, or an
        ``ls.Pool`` with ids.
    annotator: an object with ``label(ids)``, or a function of ids; answers with one label per id.
    classes: names, a count (0 to count - 1), or None to learn them from the answers.
    tolerance: the share of wrong machine labels you accept (ε).
    delta: the probability with which a certified promise may fail (δ).
    train_budget, validation_budget: how many human labels may be asked for, to learn and to check.
    seed_size, batch_size: first and later batches of training labels; 0.4 and 0.2 of the train budget if None.
    classifier, training, confidence, thresholds, query: a name, or an instance with its own parameters.
    calibration_fraction: share of the validation points a fitted confidence function learns from (ν).
    validation: (X, y) held out up front, outside the pool; otherwise drawn from the pool and asked for.
    validation_reuse: a rule that certifies uses each validation label once, drawn fresh from what is left of the pool;
        ``"reuse"`` uses them in every round, for comparison, and certifies nothing.
    certified_rounds: in how many of the last rounds thresholds are certified; they share delta and the validation
        budget. One, at the end, with the best model, is usually the best use of both.
    label_rest: ask humans for whatever is left in the end.
    ledger: a ledger or run to continue, for example after an annotator raised (``error.ledger``). Give an empty
        ``ls.Ledger()`` to keep hold of all answers even if the process is interrupted from the keyboard.
    """
    pool = as_pool(pool)
    answering = as_annotator(annotator)
    names = declared_classes(classes)
    given, given_labels = given_validation(validation, pool)
    if given is not None and seed_size is None and certifies(thresholds) and validation_reuse == "fresh":
        seed_size = train_budget  # only the first round can be certified, so it gets all training labels
    settings = checked_settings(
        pool_size=len(pool),
        n_given_validation=len(given_labels),
        n_classes=None if names is None else len(names),
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
    )
    methods = compose(
        pool,
        settings,
        device,
        classifier=classifier,
        training=training,
        confidence=confidence,
        thresholds=thresholds,
        query=query,
    )
    plan = methods.plan(settings, validation_reuse, is_given=given is not None)
    methods.refuse_what_cannot_work(settings, plan, pool, None if names is None else len(names))
    ledger = _own_ledger(ledger)
    rule = f"{type(methods.thresholds).__name__}, {validation_reuse} validation labels,"
    codes = open_ledger(ledger, pool, given, given_labels, names, settings, rule)
    observer = progress if isinstance(progress, Observer) else bars_if_terminal(progress)
    loop = Loop(pool, given, methods, settings, plan, ledger, observer)
    with observer, _keeping(ledger):
        reason = _drive(loop, answering, pool, codes, ledger, observer)
    described = {name: str(method) for name, method in vars(methods).items()}
    certified = methods.thresholds.certifies and plan.single_use
    return Run(ledger.copy(), pool.ids, reason, {**asdict(settings), **described, "certified": certified})


def _own_ledger(ledger: Ledger | Run | None) -> Ledger:
    """A finished run keeps its ledger as it is: continuing it works on a replayed copy."""
    if isinstance(ledger, Run):
        return ledger.ledger.copy()
    if ledger is not None and not isinstance(ledger, Ledger):
        raise ConfigurationError(f"ledger must be an ls.Ledger or a run; got {type(ledger).__name__}.")
    return Ledger() if ledger is None else ledger


@contextmanager
def _keeping(ledger: Ledger) -> Iterator[None]:
    """Whatever goes wrong inside, the exception brings the ledger along: human answers are never lost."""
    try:
        yield
    except Exception as error:
        if getattr(error, "ledger", None) is None:
            error.ledger = ledger  # type: ignore[attr-defined]
            answered = int((ledger.state.source == HUMAN).sum())
            error.add_note(f"All {answered:,} labels answered so far are kept; continue with ledger=error.ledger.")
        raise


def _drive(loop: Loop, annotator: Annotator, pool: Pool, codes: ClassCodes, ledger: Ledger, observer: Observer) -> str:
    """Perform one request after the other until the loop ends; returns why it ended."""
    steps = loop.steps()
    result: Any = None
    while True:
        try:
            request = steps.send(result)
        except StopIteration as end:
            return str(end.value)
        match request:
            case AskHumans():
                observer.asking(len(request.points), request.role)
                result = None
                ask(annotator, pool.ids[request.points], request.points, codes, ledger)
            case TrainClassifier():
                result = request.perform(observer.training)
            case FitConfidence():
                result = request.perform()
            case ScorePool():
                result = request.perform(observer.scoring)
