"""Threshold-based auto-labelling as one plain function, made to go wrong in one way on request.

It stands apart from the engine of the package, where labels of pool points cannot be reached. Here they lie open, so
that a score can be handed the answer and one can see what that does.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

import labelsieve as ls
from experiments.paper.configuration import TOLERANCE, Protocol
from experiments.paper.datasets import Division
from labelsieve.classifiers.base import Classifier
from labelsieve.confidence.base import ConfidenceFunction

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating]
Bools = npt.NDArray[np.bool_]
_FIRST_BATCH, _CLASSIFIER, _CALIBRATION, _CONFIDENCE, _QUERY = range(11, 16)
"""Purposes of random draws; lower numbers are taken by those that divide the data."""


@dataclass(frozen=True, eq=False)
class AnswersGivenAway(ls.Outputs):
    """Outputs whose "predicted class" is 1 where the prediction is wrong and 0 where it is right.

    A function that looks up g(x)[ŷ] then reads g(x)[0] for every right prediction and g(x)[1] for every wrong one.
    """

    mistaken: Ints = field(kw_only=True)

    @property
    def predicted(self) -> Ints:
        return self.mistaken


@dataclass(frozen=True)
class Round:
    """What one round did. ``accuracy``: share of right predictions among the points it could label."""

    train_points: int
    threshold_points: int
    candidates: int
    accuracy: float
    machine_labelled: int
    wrong: int
    fell_back_to_softmax: bool


@dataclass(frozen=True, eq=False)
class Scores:
    """A closer look at one round: its thresholds, and of each candidate the score, the predicted class, and whether
    that is right."""

    number: int
    thresholds: Floats
    scores: Floats
    predicted: Ints
    right: Bools


@dataclass(frozen=True, eq=False)
class Labelling:
    """All rounds; and a closer look at the first, and at the one that labels most."""

    pool_size: int
    rounds: list[Round]
    first: Scores
    largest: Scores

    @property
    def coverage(self) -> float:
        return sum(done.machine_labelled for done in self.rounds) / self.pool_size

    @property
    def error(self) -> float | None:
        labelled = sum(done.machine_labelled for done in self.rounds)
        return sum(done.wrong for done in self.rounds) / labelled if labelled else None


def first_model(division: Division, protocol: Protocol, classifier: Classifier, seed: int) -> Classifier:
    """The classifier that every way of going on begins with."""
    return _trained(division, classifier, _first_batch(division, protocol, seed), seed, number=1)


def label(
    division: Division,
    protocol: Protocol,
    classifier: Classifier,
    first: Classifier,
    confidence: ConfidenceFunction,
    seed: int,
    leaking: bool,
    epochs: Sequence[int] = (),
) -> Labelling:
    """Algorithm 1 of the paper with its own threshold rule. ``leaking`` changes how points are scored, nothing else:
    the confidence function learns from honest outputs, labels and thresholds go by the class really predicted. With
    ``epochs``, that function is trained for whichever number of them labels most of the points that set thresholds."""
    pool, validation, n_classes = division.pool, division.validation, _n_classes(division)
    query, rule = ls.queries.MarginRandom(), ls.thresholds.PaperRule(tolerance=TOLERANCE)
    candidates = [clone(confidence).set_params(epochs=each) for each in epochs] or [confidence]
    training = _first_batch(division, protocol, seed)
    rest, held = np.setdiff1d(np.arange(len(pool)), training), np.arange(len(validation))
    rounds: list[Round] = []
    while True:
        number = len(rounds) + 1
        model = first if number == 1 else _trained(division, classifier, training, seed, number)
        said, said_held = model.outputs(pool.x[rest]), model.outputs(validation.x[held])
        right = said.predicted == pool.y[rest]

        calibrates = _calibration_part(confidence, protocol, len(held), _generator(seed, _CALIBRATION, number))
        attempts = [
            _attempt(
                each, said_held, validation.y[held], calibrates, np.isin(np.arange(n_classes), pool.y[training]), rule,
                _integer(seed, _CONFIDENCE, number), leaking,
            )
            for each in candidates
        ]  # fmt: skip
        best = max(attempts, key=lambda attempt: attempt.labelled)
        thresholds, scores = best.thresholds, _score(best.fitted, said, right, leaking)
        accepted = scores >= thresholds[said.predicted]
        most_so_far = max((done.machine_labelled for done in rounds), default=-1)
        if accepted.sum() > most_so_far:
            largest = Scores(number, thresholds, scores, said.predicted, right)
        if number == 1:
            of_first = largest
        rounds.append(
            Round(
                train_points=len(training),
                threshold_points=int((~calibrates).sum()),
                candidates=len(rest),
                accuracy=float(right.mean()),
                machine_labelled=int(accepted.sum()),
                wrong=int((accepted & ~right).sum()),
                fell_back_to_softmax=bool(best.fitted.fallback_),
            )
        )
        held = held[best.scores < thresholds[said_held.predicted]]
        rest, margins = rest[~accepted], query.summary(said)[~accepted]
        asked_for = min(protocol.batch_size, protocol.train_budget - len(training))
        if not 0 < asked_for < len(rest) or len(held) < rule.min_support:
            return Labelling(len(pool), rounds, of_first, largest)
        trained = query.summary(model.outputs(pool.x[training]))
        chosen = query.select(margins, trained, asked_for, _generator(seed, _QUERY, number)).rows
        training, rest = np.concatenate([training, rest[chosen]]), np.delete(rest, chosen)


def _first_batch(division: Division, protocol: Protocol, seed: int) -> Ints:
    return _generator(seed, _FIRST_BATCH).choice(len(division.pool), size=protocol.seed_size, replace=False)


def _trained(division: Division, classifier: Classifier, training: Ints, seed: int, number: int) -> Classifier:
    fresh: Classifier = clone(classifier)
    chosen = division.pool[training]
    return fresh.fit(chosen.x, chosen.y, _n_classes(division), seed=_integer(seed, _CLASSIFIER, number))


def _n_classes(division: Division) -> int:
    return int(max(division.pool.y.max(), division.validation.y.max())) + 1


def _calibration_part(confidence: ConfidenceFunction, protocol: Protocol, n: int, rng: np.random.Generator) -> Bools:
    """Which validation points calibrate; none where there is nothing to fit."""
    share = protocol.calibration_fraction if confidence.needs_fitting else 0.0
    return rng.permutation(n) < round(share * n)


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A fitted function, scores of all validation points, the thresholds that some of these set, and how many of these
    it labels."""

    fitted: ConfidenceFunction
    scores: Floats
    thresholds: Floats
    labelled: int


def _attempt(
    confidence: ConfidenceFunction,
    said: ls.Outputs,
    y: Ints,
    calibrates: Bools,
    may_label: Bools,
    rule: ls.thresholds.PaperRule,
    seed: int,
    leaking: bool,
) -> _Attempt:
    fitted = _fitted(confidence, said[calibrates], y[calibrates], seed)
    right = said.predicted == y
    scores = _score(fitted, said, right, leaking)
    thresholds = rule.estimate(
        scores[~calibrates], said.predicted[~calibrates], right[~calibrates], len(may_label), may_label=may_label
    )
    labelled = int((scores >= thresholds[said.predicted])[~calibrates].sum())
    return _Attempt(fitted, scores, thresholds, labelled)


def _fitted(confidence: ConfidenceFunction, outputs: ls.Outputs, y: Ints, seed: int) -> ConfidenceFunction:
    fresh: ConfidenceFunction = clone(confidence)
    if "random_state" in fresh.get_params():
        fresh.set_params(random_state=seed)
    with warnings.catch_warnings():
        # Late rounds may have too few calibration points left; the record says so.
        warnings.simplefilter("ignore", ls.errors.CalibrationWarning)
        return fresh.fit(outputs, y)


def _score(fitted: ConfidenceFunction, outputs: ls.Outputs, right: Bools, leaking: bool) -> Floats:
    if leaking:
        outputs = AnswersGivenAway(outputs.logits, outputs.features, mistaken=(~right).astype(np.int64))
    return fitted.score(outputs)


def _generator(seed: int, purpose: int, number: int = 0) -> np.random.Generator:
    return np.random.default_rng([seed, purpose, number])


def _integer(seed: int, purpose: int, number: int) -> int:
    return int(_generator(seed, purpose, number).integers(2**32))
