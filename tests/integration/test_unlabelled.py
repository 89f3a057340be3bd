"""Which points a semi-supervised classifier gets to see, and that it gets no label of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import labelsieve as ls
from labelsieve.classifiers import SklearnClassifier
from labelsieve.engine.entries import Answered, Asked, Role
from labelsieve.errors import ConfigurationError
from labelsieve.thresholds import PaperRule
from tests.problems import quick_classifier

SEEN: list[tuple[np.ndarray, np.ndarray]] = []
"""(Training points, points without labels) of each fit."""


class Watched(SklearnClassifier):
    """Wants so many points without labels, learns from labelled ones alone, and notes both."""

    def __init__(self, estimator, n=10**6):
        super().__init__(estimator)
        self.n = n

    @property
    def unlabelled_wanted(self):
        return self.n

    def _fit_with_unlabelled(self, x, y, unlabelled, n_classes, seed, progress):
        SEEN.append((x[:, 0].astype(int), unlabelled[:, 0].astype(int)))
        self._fit(x, y, n_classes, seed, progress)


NOTHING_PASSES = PaperRule(min_coverage=1.1)


def watched_run(n=10**6, n_given=0, **settings):
    """Points whose first feature is their number, given validation points after those of the pool."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400 + n_given)
    x = np.c_[np.arange(len(y)), rng.normal(size=len(y)) + 3 * y]
    SEEN.clear()
    given = {"validation": (x[400:], y[400:])} if n_given else {"validation_budget": 120}
    run = ls.autolabel(
        x[:400], ls.SimulatedAnnotator(y[:400]), classes=2, tolerance=0.2, train_budget=40, seed_size=20, batch_size=10,
        classifier=Watched(LogisticRegression(max_iter=2000), n), progress=False,
        **given, **({"confidence": "softmax"} | settings),
    )  # fmt: skip
    return run, list(SEEN)


def asked(run, role):
    return np.concatenate([entry.points for entry in run.ledger if isinstance(entry, Asked) and entry.role is role])


@pytest.mark.parametrize(
    "settings", [{"thresholds": "paper"}, {}, {"validation_reuse": "folds", "certified_rounds": 2}, {"n_given": 150}]
)
def test_every_point_that_does_not_train_is_among_them_held_out_or_not(settings):
    run, seen = watched_run(**settings)
    n_points = 400 + settings.get("n_given", 0)
    assert len(seen) == len(run.rounds) > 1
    for training, unlabelled in seen:
        assert sorted([*training, *unlabelled]) == list(range(n_points))
    held_out = np.arange(400, n_points) if settings.get("n_given") else asked(run, Role.VALIDATION)
    assert len(held_out)
    assert set(held_out) <= set(seen[-1][1])


def test_a_share_of_them_has_as_large_a_share_of_the_held_out_points():
    """Held-out points, in use and waiting, are drawn as often as others."""
    drawn, expected = np.zeros(520), 0.0
    for seed in range(60):
        _, seen = watched_run(100, n_given=120, random_state=seed, thresholds=NOTHING_PASSES)
        for training, unlabelled in seen:
            assert len(np.unique(unlabelled)) == 100
            drawn[unlabelled] += 1
            expected += 100 / (520 - len(training))
    assert drawn[400:].mean() == pytest.approx(expected, rel=0.05)


def test_draws_differ_by_seed_and_repeat():
    _, first = watched_run(30)
    _, again = watched_run(30)
    _, other = watched_run(30, random_state=1)
    assert all(np.array_equal(one[1], two[1]) for one, two in zip(first, again, strict=True))
    assert not np.array_equal(first[0][1], other[0][1])


def test_those_of_earlier_rounds_and_all_folds_are_drawn_again():
    """What a classifier has found out about them in one fit serves the next."""
    _, seen = watched_run(30, confidence="evidence")
    *rounds, last = seen[:-4]
    assert len(rounds) > 1
    for training, unlabelled in rounds:
        assert {*training, *unlabelled} <= {*last[0], *last[1]}
    for training, unlabelled in seen[-4:]:
        assert {*training, *unlabelled} <= {*last[0], *last[1]}
        assert len(unlabelled) == 30


def test_a_continued_run_draws_as_it_would_have():
    """The model that asks the question after the last round is that of the last round."""
    ended, before = watched_run(30, max_rounds=2, thresholds=NOTHING_PASSES)
    _, after = watched_run(30, thresholds=NOTHING_PASSES, ledger=ended)
    assert (len(before), len(after)) == (2, 1 + 1)
    np.testing.assert_array_equal(after[0][0], before[-1][0])
    np.testing.assert_array_equal(after[0][1], before[-1][1])


def test_classifiers_that_want_none_are_given_none(monkeypatch):
    def refuse(*_):
        raise AssertionError("given points without labels")

    monkeypatch.setattr(SklearnClassifier, "_fit_with_unlabelled", refuse)
    x = np.random.default_rng(0).normal(size=(100, 2))
    run = ls.autolabel(
        x, ls.SimulatedAnnotator((x[:, 0] > 0).astype(int)), classes=2, train_budget=20, validation_budget=40,
        classifier="logistic", thresholds="paper", progress=False,
    )  # fmt: skip
    assert any(isinstance(entry, Answered) for entry in run.ledger)


@pytest.mark.parametrize("name", ["logistic", "mlp"])
def test_points_nobody_wants_are_refused(name):
    x = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ConfigurationError, match=r"given 20 points without labels.*such as 'semi-supervised'"):
        quick_classifier(name).fit(x, np.arange(20) % 2, 2, seed=0, unlabelled=x)
