"""The two phases of a search: train-time parameters, then post-hoc ones with those fixed.

Measurements that the cache has are not repeated; the others are handed to the executor in chunks, each of which is one
call of ``fit_together``, and go into the cache as soon as their chunk is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from sklearn.base import BaseEstimator, clone

from labelsieve.errors import SearchError
from labelsieve.executors.base import Executor
from labelsieve.search.cache import Cache, described, fingerprint, installed_version, key_of
from labelsieve.search.first_round import FirstRounds, HeldOutOutputs, Setting
from labelsieve.search.grids import Combination
from labelsieve.search.measurement import Measurement, Outcome
from labelsieve.search.progress import SearchObserver
from labelsieve.search.selection import Choice, choose
from labelsieve.seeding import generator

_MEASURED = set(Measurement.__dataclass_fields__)


@dataclass(frozen=True)
class Phase:
    """What one phase tried, what came of it, and what was chosen."""

    name: str
    combinations: Sequence[Combination]
    outcomes: Sequence[Outcome]
    choice: Choice

    @property
    def chosen(self) -> Combination:
        return self.combinations[self.choice.winner]


@dataclass(frozen=True, eq=False)
class _Trial:
    """One combination with one seed, and the key of what it depends on."""

    parameters: Combination
    seed: int
    key: str


class Phases:
    """Runs phases over the same first rounds; ``fits`` counts what was really fitted."""

    def __init__(
        self, rounds: FirstRounds, executor: Executor, cache: Cache, observer: SearchObserver, chunk_size: int
    ) -> None:
        self.fits = 0
        self._rounds = rounds
        self._executor = executor
        self._cache = cache
        self._observer = observer
        self._chunk_size = chunk_size

    def training(self, combinations: Sequence[Combination]) -> Phase:
        """Settings of the classifier, judged by its softmax."""

        def methods(combination: Combination) -> dict[str, BaseEstimator]:
            return {"classifier": clone(self._rounds.methods.classifier).set_params(**combination)}

        return self._run("training", combinations, methods, _measure_training, lambda: (self._rounds,))

    def confidence(self, combinations: Sequence[Combination], classifier: Combination) -> Phase:
        """Settings of the confidence function. The classifier of a seed is trained once, for all of them."""

        def methods(combination: Combination) -> dict[str, BaseEstimator]:
            return {
                "classifier": clone(self._rounds.methods.classifier).set_params(**classifier),
                "confidence": clone(self._rounds.methods.confidence).set_params(**combination),
            }

        def with_outputs() -> tuple[Any, ...]:
            return self._rounds, self._outputs(classifier)

        return self._run("confidence", combinations, methods, _measure_confidence, with_outputs)

    def _run(
        self,
        name: str,
        combinations: Sequence[Combination],
        methods: Callable[[Combination], dict[str, BaseEstimator]],
        measure: Callable[..., list[Measurement]],
        common: Callable[[], tuple[Any, ...]],
    ) -> Phase:
        seeds = list(self._rounds.training)
        trials = [
            _Trial(combination, seed, key)
            for number, combination in enumerate(combinations)
            for seed, key in zip(seeds, self._keys(number, methods(combination)), strict=True)
        ]
        known = {trial.key: found for trial in trials if (found := self._recalled(trial.key)) is not None}
        self._observer.phase_started(name, len(trials), len(known))
        missing = [trial for trial in trials if trial.key not in known]
        if missing:
            for chunk, measurements in self._spread(measure, missing, common()):
                measured = dict(zip(chunk, measurements, strict=True))
                self._keep(name, measured)
                known |= {trial.key: measurement for trial, measurement in measured.items()}
                self._observer.measured(len(chunk))
        outcomes = [
            Outcome([known[trial.key] for trial in trials[start : start + len(seeds)]])
            for start in range(0, len(trials), len(seeds))
        ]
        settings = self._rounds.settings
        choice = choose(outcomes, settings.tolerance, generator(settings.random_state, f"ties, {name}"))
        return Phase(name, combinations, outcomes, choice)

    def _outputs(self, classifier: Combination) -> dict[int, HeldOutOutputs]:
        """Of every seed, also where only some are needed: see ``_keep``."""
        trials = [_Trial(classifier, seed, key="") for seed in self._rounds.training]
        outputs: dict[int, HeldOutOutputs] = {}
        for chunk, trained in self._spread(_outputs, trials, (self._rounds,)):
            for trial, one in zip(chunk, trained, strict=True):
                if isinstance(one, Measurement):
                    raise SearchError(
                        f"The chosen classifier must train for every seed; for seed {trial.seed} it did not: "
                        f"{one.failure} Narrow the grid to settings that work, and search again."
                    )
                outputs[trial.seed] = one
        return outputs

    def _spread(
        self, function: Callable[..., list[Any]], trials: Sequence[_Trial], common: tuple[Any, ...]
    ) -> Iterator[tuple[Sequence[_Trial], list[Any]]]:
        """The executor's results, chunk by chunk, in the order in which they are done."""
        chunks = [trials[start : start + self._chunk_size] for start in range(0, len(trials), self._chunk_size)]
        items = [[(trial.parameters, trial.seed) for trial in chunk] for chunk in chunks]
        for index, results in self._executor.map(function, items, common):
            self.fits += len(results)
            yield chunks[index], results

    def _recalled(self, key: str) -> Measurement | None:
        measured = (self._cache.get(key) or {}).get("measured")
        return Measurement(**measured) if isinstance(measured, dict) and set(measured) == _MEASURED else None

    def _keep(self, phase: str, measured: Mapping[_Trial, Measurement]) -> None:
        """A chunk at once: what is missing after an interruption is whole chunks, and fitted again in the same company.
        Fits that share a tensor program need not come out the same to the last digit in another company."""
        self._cache.put(
            {
                trial.key: {
                    "phase": phase,
                    "parameters": trial.parameters,
                    "seed": trial.seed,
                    "measured": asdict(measurement),
                }
                for trial, measurement in measured.items()
            }
        )

    def _keys(self, number: int, methods: dict[str, BaseEstimator]) -> list[str]:
        """One per seed: of everything that the measurement of these methods depends on."""
        if not self._cache.keeps:  # then methods need not be such as can be recognised in another process
            return [f"{number} {seed}" for seed in self._rounds.training]
        described_methods = {name: described(method) for name, method in methods.items()}
        return [
            key_of({**self._depends_on, **described_methods, "seed": seed, "batch": batch})
            for seed, batch in self._batches.items()
        ]

    @cached_property
    def _depends_on(self) -> dict[str, Any]:
        """What all measurements of a search have in common."""
        rounds = self._rounds
        return {
            "labelsieve": installed_version(),
            "threads": self._executor.threads,
            "held out": fingerprint(rounds.validation.x, rounds.validation.y, rounds.hyp.x, rounds.hyp.y),
            "classes": rounds.n_classes,
            "thresholds": described(rounds.methods.thresholds),
            "calibration fraction": rounds.settings.calibration_fraction,
        }

    @cached_property
    def _batches(self) -> dict[int, str]:
        return {seed: fingerprint(batch.x, batch.y) for seed, batch in self._rounds.training.items()}


# Module-level functions, so that they can travel to another process.


def _measure_training(settings: list[Setting], rounds: FirstRounds) -> list[Measurement]:
    return rounds.measure_training(settings)


def _outputs(settings: list[Setting], rounds: FirstRounds) -> list[HeldOutOutputs | Measurement]:
    return rounds.outputs(settings)


def _measure_confidence(
    settings: list[Setting], rounds: FirstRounds, outputs: dict[int, HeldOutOutputs]
) -> list[Measurement]:
    return rounds.measure_confidence(settings, outputs)
