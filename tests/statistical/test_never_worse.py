"""What is chosen by itself against what is plain: the same labels, the same rule, pair by pair.

The worlds are hard enough that plain scores reach about half of what can be had, so that worse ones are seen to reach
less. Where parts are compared, no run may stop asking early, as all then ask for the same number of labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

import labelsieve as ls
from labelsieve.confidence import ConfidenceFunction
from labelsieve.errors import LabelsieveWarning
from tests.problems import of_unit_length

PAIRS = 20
MAY_LOSE = 0.01
DELTA = 0.05


class Arbitrary(ConfidenceFunction):
    """A score that says nothing: any order of the points, the same for the same points."""

    needs_fitting = False

    def _score(self, outputs):
        return np.modf(1e6 * outputs.margins)[0]


def blurred_digits(seed):
    x, y = load_digits(return_X_y=True)
    return x + np.random.default_rng(seed).normal(scale=4, size=x.shape), y


def many_small_classes(seed):
    """30 classes with 20 examples each, in clouds that overlap."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(30), 20)
    return 1.6 * rng.normal(size=(30, 10))[y] + rng.normal(size=(600, 10)), y


def one_in_fifty(seed):
    """Whoever never names the rare class is wrong at 2 %, which is too much here."""
    rng = np.random.default_rng(seed)
    y = (rng.random(10_000) < 1 / 51).astype(int)
    return rng.normal(size=(10_000, 6)) + 0.75 * y[:, None], y


def wrong_in_places(seed):
    """Twelve clouds; in two of them most labels are wrong, which their neighbours show."""
    rng = np.random.default_rng(seed)
    cloud = rng.integers(12, size=3000)
    y = cloud % 4
    x = 2.5 * rng.normal(size=(12, 6))[cloud] + rng.normal(size=(3000, 6))
    is_wrong = (cloud >= 10) & (rng.random(3000) < 0.6)
    return x, np.where(is_wrong, (y + rng.integers(1, 4, size=3000)) % 4, y)


def mostly_useless_features(seed):
    """Three of 40 features say something of the class, and neighbours hardly anything."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=3000)
    x = rng.normal(size=(3000, 40))
    x[:, :3] += 0.6 * (2 * y - 1)[:, None]
    return x, y


def useless_features(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(600, 8)), rng.integers(3, size=600)


def embedded_digits(seed):
    x, y = blurred_digits(seed)
    return of_unit_length(x), y


def embedded_small_classes(seed):
    x, y = many_small_classes(seed)
    return of_unit_length(x), y


@dataclass(frozen=True)
class World:
    draw: Callable[[int], tuple[np.ndarray, np.ndarray]]
    train_budget: int
    validation_budget: int
    tolerance: float

    def __str__(self) -> str:
        return self.draw.__name__

    @property
    def most(self) -> float:
        """What the machine labels if it labels all that is not asked about."""
        return 1 - (self.train_budget + self.validation_budget) / len(self.draw(0)[1])


HARD = [
    World(blurred_digits, 100, 500, 0.1),
    World(many_small_classes, 150, 200, 0.1),
    World(one_in_fifty, 300, 3000, 0.01),
    World(mostly_useless_features, 150, 700, 0.1),
    World(wrong_in_places, 150, 700, 0.1),
]
USELESS = World(useless_features, 60, 150, 0.05)
EMBEDDED = [World(embedded_digits, 60, 500, 0.1), World(embedded_small_classes, 150, 200, 0.1)]
SCORES = {
    "softmax": {"confidence": "softmax", "stop_early": False},
    "auto": {"confidence": "auto", "stop_early": False},
    "arbitrary": {"confidence": Arbitrary(), "stop_early": False},
    "scaled": {"confidence": "softmax", "stop_early": False, "classifier": "logistic"},
}
TRAININGS = {name: {"confidence": "softmax", "stop_early": False, "training": name} for name in ("vanilla", "auto")}
ALL_BY_DEFAULT: dict[str, dict[str, Any]] = {"default": {}}


@dataclass(frozen=True)
class Arm:
    """The coverage of each seed, and how many broke the promise."""

    coverages: np.ndarray
    broken: int


def arms(world: World, runs: dict[str, dict[str, Any]]) -> dict[str, Arm]:
    """The runs of one seed side by side, which train what they share once."""
    outcomes = []
    for seed in range(PAIRS):
        x, y = world.draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabelsieveWarning)
            done = ls.autolabel_many(
                x, ls.SimulatedAnnotator(y), list(runs.values()), classes=int(y.max()) + 1, random_state=seed,
                progress=False, train_budget=world.train_budget, validation_budget=world.validation_budget,
                tolerance=world.tolerance, delta=DELTA,
            )  # fmt: skip
        outcomes.append([run.evaluate(y) for run in done])
    return {
        name: Arm(
            np.array([outcome.coverage for outcome in of_all_seeds]),
            sum(outcome.error is not None and outcome.error > world.tolerance for outcome in of_all_seeds),
        )
        for name, of_all_seeds in zip(runs, zip(*outcomes, strict=True), strict=True)
    }


@cache
def by_scores(world: World) -> dict[str, Arm]:
    return arms(world, SCORES)


def not_worse(plain: Arm, chosen: Arm) -> bool:
    gains = chosen.coverages - plain.coverages
    print(
        f"{plain.coverages.mean():.3f} → {chosen.coverages.mean():.3f}, "
        f"{gains.mean():+.4f} ± {gains.std(ddof=1) / np.sqrt(PAIRS):.4f}, {chosen.broken} broken"
    )
    return gains.mean() >= -MAY_LOSE


def assert_not_worse(plain: Arm, chosen: Arm):
    assert not_worse(plain, chosen)
    assert chosen.broken <= 3  # of 20 at delta 0.05: more has a probability of 1.6 %


@pytest.mark.parametrize("world", [*HARD, USELESS], ids=str)
def test_scores_not_worse_than_softmax(world):
    assert_not_worse(by_scores(world)["softmax"], by_scores(world)["auto"])


@pytest.mark.parametrize("world", HARD, ids=str)
def test_a_score_that_says_nothing_is_found_out(world):
    """Softmax reaches some of what can be had and not nearly all, so that there is something to lose and to gain."""
    softmax, arbitrary = by_scores(world)["softmax"], by_scores(world)["arbitrary"]
    assert 0.2 < softmax.coverages.mean() / world.most < 0.85
    assert not not_worse(softmax, arbitrary)


def test_where_nothing_can_be_had_nothing_is_taken():
    assert all(arm.coverages.max() == 0 for arm in by_scores(USELESS).values())


@pytest.mark.parametrize("world", [*HARD, USELESS], ids=str)
def test_not_worse_than_scaled_features(world):
    """Whether to scale features is chosen by training labels."""
    assert_not_worse(by_scores(world)["scaled"], by_scores(world)["softmax"])


@pytest.mark.parametrize("world", [*HARD[:-1], USELESS], ids=str)
def test_all_by_default_not_worse_than_softmax(world):
    """The default may also stop asking early; softmax cannot. Its batches are others then, and so are its models: pairs
    differ far more than by their scores, so what chance makes of 20 of them is allowed for."""
    softmax, default = by_scores(world)["softmax"], arms(world, ALL_BY_DEFAULT)["default"]
    gains = default.coverages - softmax.coverages
    assert gains.mean() + 2 * gains.std(ddof=1) / np.sqrt(PAIRS) >= -MAY_LOSE
    assert default.broken <= 3


@pytest.mark.parametrize("world", EMBEDDED, ids=str)
def test_not_worse_than_plain_training(world):
    """Points of unit length learn from points without labels too, unless told otherwise."""
    trained = arms(world, TRAININGS)
    assert 0.2 < trained["vanilla"].coverages.mean() / world.most < 0.85
    assert_not_worse(trained["vanilla"], trained["auto"])
