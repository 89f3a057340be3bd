"""Which labels a search asks for: the first batch of every seed, and held-out data that were not given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsieve.annotators import SimulatedAnnotator
from labelsieve.annotators.base import Annotator, as_annotator
from labelsieve.data.pool import Pool
from labelsieve.engine.asking import ask
from labelsieve.engine.entries import Asked, ClassesNamed, Role
from labelsieve.engine.ledger import Ledger
from labelsieve.engine.opening import open_ledger
from labelsieve.engine.settings import RunSettings
from labelsieve.engine.state import HUMAN
from labelsieve.errors import ConfigurationError, OneClassError, UnseenClassWarning
from labelsieve.search.cache import Cache, key_of
from labelsieve.search.first_round import Labelled
from labelsieve.seeding import generator
from labelsieve.types import Ints, Label

_Given = tuple[Pool | None, list[Any]]


class SearchLabels:
    """Draws and asks, each point at most once; everything answered is in the ledger."""

    def __init__(
        self,
        pool: Pool,
        annotator: Annotator,
        validation: _Given,
        hyp: _Given,
        hyp_budget: int,
        names: tuple[Label, ...] | None,
        settings: RunSettings,
        ledger: Ledger,
        cache: Cache,
    ) -> None:
        self._pool = pool
        self._annotator = annotator
        self._settings = settings
        self._ledger = ledger
        self._cache = cache
        self._answers_key = "answers-" + key_of({"pool": pool.fingerprint()})
        self._given = {"validation": validation, "hyp": hyp}
        self._budgets = {"validation": settings.validation_budget, "hyp": 0 if hyp[0] is not None else hyp_budget}
        self._codes = open_ledger(ledger, pool, *validation, names, settings, "search")
        self._given_codes = {name: self._code(labels) for name, (_, labels) in self._given.items()}
        to_ask = settings.seed_size + sum(self._budgets.values())
        if to_ask > len(pool):
            raise ConfigurationError(
                f"The first batch and the held-out points to ask for must fit into the pool of {len(pool)} points; "
                f"got seed_size {settings.seed_size}, validation {self._budgets['validation']} and hyp "
                f"{self._budgets['hyp']}, {to_ask} in all. Lower one of them."
            )

    def collect(self, seeds: Sequence[int]) -> tuple[dict[int, Labelled], Labelled, Labelled]:
        """First batches by seed, validation and hyp points, all with their codes; asks for what is not known."""
        free = np.arange(len(self._pool))
        rows: dict[str, Ints] = {}
        for name, n in self._budgets.items():
            drawn = generator(self._settings.random_state, name).choice(len(free), size=n, replace=False)
            rows[name], free = free[drawn], np.delete(free, drawn)
        n = self._settings.seed_size
        # In the order of the pool, as the loop has its training points.
        batches = {
            seed: np.sort(free[generator(seed, "seed batch").choice(len(free), size=n, replace=False)])
            for seed in seeds
        }
        held_out = np.concatenate(list(rows.values()))
        self._ask(held_out, Role.VALIDATION, len(held_out) / len(self._pool))
        union = np.unique(np.concatenate(list(batches.values())))
        self._ask(union, Role.TRAIN, 1 - (1 - n / len(free)) ** len(seeds))
        training = {seed: self._labelled(batch) for seed, batch in batches.items()}
        self._refuse_one_class(training)
        self._warn_of_unseen(training)
        return training, self._held_out("validation", rows), self._held_out("hyp", rows)

    @property
    def n_classes(self) -> int:
        return len(self._codes.names)

    @property
    def asked(self) -> int:
        """How many labels were asked for."""
        return int(self._ledger.state.asked.sum())

    def _code(self, labels: list[Any]) -> Ints:
        known = len(self._codes.names)
        codes = self._codes.codes(labels)
        if len(self._codes.names) > known:
            self._ledger.append(ClassesNamed(tuple(self._codes.names[known:])))
        return codes

    def _ask(self, points: Ints, role: Role, probability: float) -> None:
        state = self._ledger.state
        new = points[~state.asked[points]]
        if len(new):
            self._ledger.append(Asked(0, role, new, np.full(len(new), probability)))
        self._recall()
        pending = state.pending()
        if len(pending):
            try:
                ask(self._annotator, self._pool.ids[pending], pending, self._codes, self._ledger)
            finally:
                self._remember()

    def _recall(self) -> None:
        """Answers an earlier, interrupted search has had from people count: nobody is asked twice."""
        known = dict((self._cache.get(self._answers_key) or {}).get("labels", ()))
        pending = self._ledger.state.pending()
        ids = self._pool.ids[pending].tolist()
        answered = np.array([id_ in known for id_ in ids], dtype=bool)
        if answered.any():
            recalled = as_annotator(lambda ids: [known[id_] for id_ in ids.tolist()])
            points = pending[answered]
            ask(recalled, self._pool.ids[points], points, self._codes, self._ledger)

    def _remember(self) -> None:
        if isinstance(self._annotator, SimulatedAnnotator):
            return  # it has every label, and keeping them would hide a change of its file
        state = self._ledger.state
        answered = np.flatnonzero(state.asked & (state.source == HUMAN))
        labels = [self._codes.names[code] for code in state.label[answered]]
        pairs = zip(self._pool.ids[answered].tolist(), labels, strict=True)
        self._cache.put({self._answers_key: {"labels": [list(pair) for pair in pairs]}})

    def _labelled(self, points: Ints) -> Labelled:
        return Labelled(self._pool.take(points), self._ledger.state.label[points])

    def _held_out(self, name: str, rows: dict[str, Ints]) -> Labelled:
        given = self._given[name][0]
        if given is None:
            return self._labelled(rows[name])
        return Labelled(given.take(np.arange(len(given))), self._given_codes[name])

    def _refuse_one_class(self, training: dict[int, Labelled]) -> None:
        for seed, batch in training.items():
            found = np.unique(batch.y)
            if len(found) < 2:
                raise OneClassError(
                    f"The first batch of every seed needs at least two classes; all {len(batch.y)} answers for seed "
                    f"{seed} were {self._codes.names[found[0]]!r}. Raise seed_size and go on with ledger=error.ledger.",
                    self._ledger,
                )

    def _warn_of_unseen(self, training: dict[int, Labelled]) -> None:
        lacking = [seed for seed, batch in training.items() if len(np.unique(batch.y)) < self.n_classes]
        if lacking:
            warnings.warn(
                f"The first batches of {len(lacking)} of {len(training)} seeds lack a class, which gets no machine "
                "labels there. If coverage is low for that reason, raise seed_size.",
                UnseenClassWarning,
                stacklevel=4,
            )
