"""``autolabel``: one run, from names and numbers to labels; ``autolabel_many``: many runs side by side."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelsieve.data.pool import Pool, as_pool
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.lockstep import advance_together
from labelsieve.engine.progress import ManyBars, Observer, bars_if_terminal
from labelsieve.engine.run import Run
from labelsieve.engine.running import open_run
from labelsieve.errors import ConfigurationError
from labelsieve.executors import LocalExecutor, as_executor, ready
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
    training: Any = "auto",
    confidence: Any = "auto",
    thresholds: Any = "certified",
    query: Any = "margin-random",
    calibration_fraction: float = 0.5,
    validation: tuple[Any, Any] | None = None,
    validation_reuse: str = "auto",
    certified_rounds: int = 1,
    max_rounds: int | None = None,
    stop_early: bool | str = "auto",
    label_rest: bool = False,
    ledger: Ledger | Run | None = None,
    random_state: int = 0,
    device: str = "auto",
    progress: bool | Observer = True,
    executor: Any = "local",
) -> Run:
    """Label a pool with few human labels and as many machine labels as the tolerance allows.

    pool: features (n, d), images (n, h, w[, c]), the path of a .npy or .parquet file or of a folder of images, or an
        ``ls.Pool`` with ids.
    annotator: an object with ``label(ids)``, or a function of ids; answers with one label per id.
    classes: names, a count (0 to count - 1), or None to learn them from the answers.
    tolerance: the share of wrong machine labels you accept (ε).
    delta: the probability with which a certified promise may fail (δ).
    train_budget, validation_budget: how many human labels may be asked for, to learn and to check.
    seed_size, batch_size: first and later batches of training labels; 0.4 and 0.2 of the train budget if None. Runs
        that may stop early, of named classes, begin with fewer and add a quarter of what they have: docs/methods.md.
    classifier, training, confidence, thresholds, query: a name, or an instance with its own parameters; ``"auto"``
        chooses by the kind of points, or for confidence by the training labels.
    calibration_fraction: share of the validation points a fitted confidence function learns from (ν); those that learn
        from training points, ``"auto"`` among them, leave all to the thresholds.
    validation: (X, y) held out up front, outside the pool; otherwise drawn from the pool and asked for.
    validation_reuse: a rule that certifies uses each validation label once. ``"fresh"`` draws the labels of a test from
        what is left of the pool; ``"folds"`` deals labels that are there at the start into one part per test and thins
        them as queries thin the pool; ``"auto"`` is fresh, or folds where validation data were given. ``"reuse"`` uses
        all of them in every round, for comparison, and certifies nothing.
    certified_rounds: in how many of the last rounds thresholds are certified; they share delta and the validation
        budget. One, at the end, with the best model, is usually the best use of both.
    stop_early: ask for no more training labels once a further batch is not expected to add machine labels; see
        docs/methods.md. Needs a confidence function that learns from training points, as ``"auto"`` does. ``"auto"``
        does so where it can be done and takes models that are trained in seconds.
    label_rest: ask humans for whatever is left in the end.
    ledger: a ledger or run to continue, for example after an annotator raised (``error.ledger``). Give an empty
        ``ls.Ledger()`` to keep hold of all answers even if the process is interrupted from the keyboard.
    executor: ``"ray"``, or a ``labelsieve.executors.RayExecutor``, scores the pool in shards on a cluster.
    """
    return open_run(**locals()).to_the_end()


def autolabel_many(
    pool: Any,
    annotator: Any,
    runs: Sequence[Mapping[str, Any]],
    *,
    progress: bool = True,
    executor: Any = "local",
    runs_per_task: int = 1,
    **common: Any,
) -> list[Run]:
    """Several runs, advancing side by side: fits of one architecture are done as one, the same fit is done once.

    runs: what each run has of its own, as keywords of ``autolabel``; ``common`` is what all share. Each run comes out
        as it would alone, up to the last digits of its scores.
    pool, annotator: for the runs that have none of their own; None if all have.
    executor: ``"ray"``, or a ``labelsieve.executors.RayExecutor``, does the runs as tasks on a cluster, each task
        ``runs_per_task`` of them side by side. The annotator must be one that can travel, such as a simulated one.
    """
    shared_pool = None if pool is None else as_pool(pool)
    common = _read_once(common)
    _refuse_shared_ledgers(runs, common, is_local=isinstance(as_executor(executor), LocalExecutor))
    opened = [open_run(**all_settings(shared_pool, annotator, {**common, **own})) for own in runs]
    if isinstance(as_executor(executor), LocalExecutor):
        advance_together(opened, bars_if_terminal(progress, ManyBars))
        return [run.finished() for run in opened]
    tasks = [[{**common, **own} for own in runs[i : i + runs_per_task]] for i in range(0, len(runs), runs_per_task)]
    finished: dict[int, list[Run]] = {}
    watched = bars_if_terminal(progress, ManyBars)
    with ready(executor) as runner, watched:
        for run in opened:  # here, once, what each task would do again
            run.look(watched)
        for index, several in runner.map(_side_by_side, tasks, (shared_pool, annotator)):
            finished[index] = several
            if isinstance(watched, ManyBars):
                done = [run for part in finished.values() for run in part]
                watched.together(len(runs), len(done), max(len(run.rounds) for run in done))
    return [run for index in range(len(tasks)) for run in finished[index]]


def _read_once(common: dict[str, Any]) -> dict[str, Any]:
    """Validation data that all runs share as one pool; what is no pair is for ``autolabel`` to refuse."""
    validation = common.get("validation")
    if not (isinstance(validation, tuple) and len(validation) == 2):
        return common
    points, labels = validation
    given = points if isinstance(points, Pool) else Pool(points, name="validation data")
    return {**common, "validation": (given, labels)}


def _refuse_shared_ledgers(runs: Sequence[Mapping[str, Any]], common: Mapping[str, Any], is_local: bool) -> None:
    own = [run["ledger"] for run in runs if run.get("ledger") is not None]
    if common.get("ledger") is not None or len({id(ledger) for ledger in own}) < len(own):
        raise ConfigurationError("Each run needs a ledger of its own; give it with that run, and to one run only.")
    if own and not is_local:
        raise ConfigurationError("A ledger cannot be continued on a cluster, where answers would go to a copy of it.")


def _side_by_side(runs: list[dict[str, Any]], pool: Pool | None, annotator: Any) -> list[Run]:
    return autolabel_many(pool, annotator, runs, progress=False)


def all_settings(pool: Any, annotator: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Everything ``autolabel`` takes, its own defaults filled in."""
    signature = inspect.signature(autolabel)
    unknown = sorted(set(given) - set(signature.parameters))
    if unknown:
        raise ConfigurationError(
            f"runs must hold keywords of autolabel: {', '.join(list(signature.parameters)[2:])}; got {unknown[0]!r}."
        )
    bound = signature.bind(**{"pool": pool, "annotator": annotator, **given, "progress": False})
    bound.apply_defaults()
    return bound.arguments
