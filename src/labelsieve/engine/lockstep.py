"""Many runs side by side, so that they share each round's fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from labelsieve.engine.progress import ManyBars, Observer
from labelsieve.engine.requests import ScorePool
from labelsieve.engine.running import CostlyStep, RunInProgress
from labelsieve.engine.sharing import performed_by
from labelsieve.engine.together import fit_together


def advance_together(runs: Sequence[RunInProgress], observer: Observer) -> None:
    """Advance all runs to their end. Those waiting for a fit get it together; scores are given run by run. What several
    runs wait for is done once.

    A run that is a round ahead waits for the others: some need fewer steps in a round, and would train their next model
    alone.
    """
    watched = observer if isinstance(observer, ManyBars) else None
    with observer, _keeping_all_answers(runs):
        for run in runs:
            run.look(observer)
        waiting = {number: step for number, run in enumerate(runs) if (step := run.advance(None)) is not None}
        while waiting:
            if watched:
                watched.together(len(runs), len(runs) - len(waiting), max(run.rounds_closed for run in runs))
            last = min(runs[number].rounds_closed for number in waiting)
            behind = {number: waiting.pop(number) for number in list(waiting) if runs[number].rounds_closed == last}
            for number, result in _perform(runs, behind).items():
                step = runs[number].advance(result)
                if step is not None:
                    waiting[number] = step


@contextmanager
def _keeping_all_answers(runs: Sequence[RunInProgress]) -> Iterator[None]:
    """Whatever goes wrong in one run, the exception brings the ledgers of all, in their order."""
    try:
        yield
    except Exception as error:
        error.ledgers = [run.ledger for run in runs]  # type: ignore[attr-defined]
        error.add_note("The answers of all runs are kept: error.ledgers has a ledger for each, to continue with.")
        raise


def _perform(runs: Sequence[RunInProgress], waiting: dict[int, CostlyStep]) -> dict[int, Any]:
    performers = performed_by(waiting)
    steps = {number: waiting[number] for number in sorted(set(performers.values()))}
    fits = {number: step for number, step in steps.items() if not isinstance(step, ScorePool)}
    results = dict(zip(fits, fit_together(list(fits.values())), strict=True))
    for number, step in steps.items():
        if isinstance(step, ScorePool):
            with runs[number].keeping_answers():
                results[number] = step.perform(_unwatched)
    return {number: results[performer] for number, performer in performers.items()}


def _unwatched(_done: int, _total: int) -> None:
    return None
