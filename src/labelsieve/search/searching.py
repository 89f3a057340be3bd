"""``search``: from data and names to the best parameters."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from os import PathLike
from typing import Any

from sklearn.base import clone

from labelsieve.annotators.base import as_annotator
from labelsieve.data.classes import declared_classes
from labelsieve.data.pool import as_pool
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.methods import Methods, compose
from labelsieve.engine.opening import given_validation
from labelsieve.engine.settings import checked_settings
from labelsieve.errors import ConfigurationError
from labelsieve.executors import as_executor, ready
from labelsieve.search.cache import Cache
from labelsieve.search.first_round import FirstRounds
from labelsieve.search.grids import combinations
from labelsieve.search.labels import SearchLabels
from labelsieve.search.phases import Phases
from labelsieve.search.progress import SearchObserver, search_observer
from labelsieve.search.result import SearchResult
from labelsieve.seeding import integer_seed
from labelsieve.types import Label


def search(
    pool: Any,
    annotator: Any,
    *,
    validation: tuple[Any, Any] | None = None,
    hyp: tuple[Any, Any] | None = None,
    classes: int | Iterable[Label] | None = None,
    tolerance: float = 0.05,
    delta: float = 0.05,
    train_budget: int = 500,
    seed_size: int | None = None,
    validation_budget: int = 500,
    hyp_budget: int = 500,
    classifier: Any = "auto",
    training: Any = "vanilla",
    confidence: Any = "colander",
    thresholds: Any = "paper",
    calibration_fraction: float = 0.5,
    seeds: int | Iterable[int] = 5,
    grid: Any = None,
    cache: str | PathLike[str] | None = None,
    executor: Any = "local",
    chunk_size: int = 16,
    ledger: Ledger | None = None,
    random_state: int = 0,
    device: str = "auto",
    progress: bool | SearchObserver = True,
) -> SearchResult:
    """Find parameters of a classifier and a confidence function by the first round of a run (the paper's protocol).

    For each combination and seed, a first batch is drawn from the pool, the classifier trained on it, the confidence
    function fitted on one part of the validation data and thresholds set on the other; error and coverage are measured
    on the ``hyp`` data. Parameters of the classifier and its train-time method come first, judged by softmax; those of
    the confidence function follow, with the former fixed. The highest mean coverage with a mean error within the
    tolerance wins; see docs/search.md.

    pool, annotator, classes, tolerance, delta, train_budget, seed_size, classifier, training, confidence, thresholds,
        calibration_fraction, device: as for ``ls.autolabel``; training is plain unless said otherwise. Only the first
        batches are asked for, and no label of the pool is reached in any other way.
    validation, hyp: pairs (X, y) outside the pool, for thresholds and to measure on. One that is None is drawn from the
        pool and asked for, ``validation_budget`` or ``hyp_budget`` points.
    seeds: how many first batches, or a list of the ``random_state`` of the runs they are of.
    grid: what to try. The name of a grid that comes with the package (``"paper"``, the default; ``"tiny-imagenet"``,
        ``"extended"``), the path of a TOML file, or a mapping whose values replace those of the shipped grid, such as
        ``{"confidence": {"colander": {"alpha": [1, 10]}}}``.
    cache: a folder in which every measurement is kept as soon as it is known, so that a search that was cut off goes on
        where it was. Answers of people are kept there, too.
    executor: ``"local"``, ``"ray"``, or an instance such as ``ls.executors.RayExecutor(address="auto")``.
    chunk_size: fits that are done, and kept, together. More are faster on a GPU; fewer lose less to an interruption.
    ledger: ``error.ledger`` of a search whose annotator failed; what was answered is not asked for again.
    """
    pool = as_pool(pool)
    answering, names = as_annotator(annotator), declared_classes(classes)
    given_validation_data = given_validation(validation, pool)
    given_hyp = given_validation(hyp, pool, "hyp")
    settings = checked_settings(
        pool_size=len(pool),
        n_given_validation=len(given_validation_data[1]),
        n_classes=None if names is None else len(names),
        tolerance=tolerance,
        delta=delta,
        # Only the first batch is asked for; the budget of the run to come says how large it is if nobody else does.
        train_budget=train_budget if seed_size is None else seed_size,
        validation_budget=validation_budget,
        certified_rounds=1,
        seed_size=seed_size,
        batch_size=None,
        calibration_fraction=calibration_fraction,
        max_rounds=1,
        label_rest=False,
        random_state=random_state,
        stop_early=False,
    )
    chosen_seeds, chunk_size = _seeds(seeds, settings.random_state), _whole("chunk_size", chunk_size)
    methods = compose(
        pool,
        settings,
        device,
        classifier=classifier,
        training=training,
        confidence=confidence,
        thresholds=thresholds,
        query="random",
    )
    _refuse_other_points(methods)
    of_classifier, of_confidence = combinations(grid, methods.classifier, methods.confidence)
    plan = methods.plan(settings, "reuse", is_given=True)
    methods.refuse_what_cannot_work(settings, plan, pool, None if names is None else len(names))
    for combination in of_confidence:
        clone(methods.confidence).set_params(**combination).check_parameters()
    as_executor(executor)  # refused before anybody is asked, if it cannot be
    keeping = Cache(cache)
    labels = SearchLabels(
        pool,
        answering,
        given_validation_data,
        given_hyp,
        _whole("hyp_budget", hyp_budget),
        names,
        settings,
        Ledger() if ledger is None else ledger,
        keeping,
    )
    with ready(executor) as doing:
        first_batches, validation_points, hyp_points = labels.collect(chosen_seeds)
        rounds = FirstRounds(first_batches, validation_points, hyp_points, labels.n_classes, methods, settings)
        with search_observer(progress) as observer:  # not before: nothing moves on the screen while people answer
            phases = Phases(rounds, doing, keeping, observer, chunk_size)
            trained = phases.training(of_classifier)
            fitted = phases.confidence(of_confidence, trained.chosen)
    return SearchResult(
        training=trained,
        post_hoc=fitted,
        classifier=clone(methods.classifier).set_params(**trained.chosen),
        confidence=clone(methods.confidence).set_params(**fitted.chosen),
        tolerance=settings.tolerance,
        seeds=chosen_seeds,
        human_labels=labels.asked,
        fits=phases.fits,
    )


def _refuse_other_points(methods: Methods) -> None:
    """A search trains on a first batch and calibrates on validation points; it has no others to offer."""
    if methods.confidence.training_folds:
        raise ConfigurationError(
            f"A search fits confidence functions on validation points, and {type(methods.confidence).__name__} learns "
            "from training points. Search with confidence='softmax', and run with what was found for the classifier."
        )
    if methods.classifier.unlabelled_wanted:
        raise ConfigurationError(
            "A search trains on labelled points alone, and training='semi-supervised' wants others too. Search with "
            "training='vanilla', and run with what was found."
        )


def _seeds(seeds: Any, random_state: int) -> tuple[int, ...]:
    """A list as it is; a count as that many seeds made of ``random_state``."""
    if _is_whole(seeds, 1):
        return tuple(integer_seed(random_state, "search", number) for number in range(int(seeds)))
    listed = list(seeds) if isinstance(seeds, Iterable) and not isinstance(seeds, str) else []
    if not listed or not all(_is_whole(seed, 0) for seed in listed):
        raise ConfigurationError(f"seeds must be a whole number from 1 on, or a list of whole numbers; got {seeds!r}.")
    if len(set(listed)) < len(listed):
        raise ConfigurationError(f"seeds must differ from each other, or they say the same twice; got {listed}.")
    return tuple(int(seed) for seed in listed)


def _whole(name: str, value: Any) -> int:
    if not _is_whole(value, 1):
        raise ConfigurationError(f"{name} must be a whole number from 1 on; got {value!r}.")
    return int(value)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
