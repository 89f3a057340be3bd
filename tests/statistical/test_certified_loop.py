"""The whole loop, several rounds, active queries, and a classifier that improves between them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import labelsieve as ls
from labelsieve.classifiers import MLP, Classifier, TorchClassifier
from labelsieve.classifiers.training.semi_supervised import SemiSupervised
from labelsieve.confidence import ConfidenceFunction
from labelsieve.engine.thinning import select_and_thin
from labelsieve.errors import LabelsieveWarning
from labelsieve.queries import MarginRandom
from labelsieve.thresholds import CertifiedRule
from labelsieve.types import Outputs
from tests.problems import of_unit_length
from tests.statistical.worlds import REPETITIONS, allowed_failures

TOLERANCE, DELTA = 0.1, 0.1


def overlapping(rng: np.random.Generator, n: int):
    """Two classes that overlap, so that no classifier is ever right everywhere."""
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)) + 1.8 * y[:, None], y


def imbalanced(rng: np.random.Generator, n: int):
    """Ten classes on a circle, each seven tenths as common as the one before."""
    share = 0.7 ** np.arange(10)
    y = rng.choice(10, size=n, p=share / share.sum())
    angle = 2 * np.pi * y / 10
    return rng.normal(size=(n, 2)) + 5 * np.c_[np.cos(angle), np.sin(angle)], y


def directions(rng: np.random.Generator, n: int):
    """Two classes that overlap, of unit length as embeddings are."""
    y = rng.integers(2, size=n)
    return of_unit_length(rng.normal(size=(n, 6)) + np.outer(2 * y - 1, [1.4, 0, 0, 0, 0, 0])), y


WORLDS = {"overlapping": overlapping, "imbalanced": imbalanced, "directions": directions}


class NaiveBayes(Classifier):
    """A normal distribution per class and feature. As scikit-learn's, without the checks that take most of its time on
    so few points."""

    gives_raw_logits = False

    def check(self, x, n_classes):
        pass

    def fingerprint(self):
        return "naive bayes"

    def with_training(self, method):
        return self

    def _fit(self, x, y, n_classes, seed, progress):
        self.classes_, counts = np.unique(y, return_counts=True)
        of_classes = [x[y == code] for code in self.classes_]
        self.means_ = np.stack([points.mean(axis=0) for points in of_classes])
        self.variances_ = np.stack([points.var(axis=0) for points in of_classes]) + 1e-9 * x.var(axis=0).max()
        self.log_constants_ = np.log(counts / len(y)) - 0.5 * np.log(2 * np.pi * self.variances_).sum(axis=1)
        self.width_ = n_classes

    def _outputs(self, x):
        squares = (x[:, None] - self.means_) ** 2 / self.variances_
        likelihoods = self.log_constants_ - 0.5 * squares.sum(axis=2)
        logits = np.full((len(x), self.width_), np.log(1e-12))
        logits[:, self.classes_] = np.maximum(log_softmax(likelihoods, axis=1), np.log(1e-12))
        return Outputs(logits, x.astype(np.float32))


def failures(world="overlapping", repetitions=REPETITIONS, n=1500, classes=2, given=0, **settings) -> tuple[int, float]:
    """In how many repetitions the realised error exceeds the tolerance; and mean coverage.

    ``given``: how many validation points lie outside the pool.
    """
    failed, coverage = 0, 0.0
    chosen = {
        "train_budget": 40, "seed_size": 20, "batch_size": 10, "validation_budget": 300, "tolerance": TOLERANCE,
        "classifier": NaiveBayes(),
    } | settings  # fmt: skip
    for repetition in range(repetitions):
        x, y = WORLDS[world](np.random.default_rng(repetition), n + given)
        if given:
            chosen["validation"] = (x[n:], y[n:])
            x, y = x[:n], y[:n]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabelsieveWarning)
            run = ls.autolabel(
                x, ls.SimulatedAnnotator(y), classes=classes, delta=DELTA, random_state=repetition, progress=False,
                **chosen,
            )  # fmt: skip
        outcome = run.evaluate(y)
        failed += outcome.error is not None and outcome.error > chosen["tolerance"]
        coverage += outcome.coverage / repetitions
    return failed, coverage


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"query": "margin", "confidence": "softmax"},
        {"certified_rounds": 2, "confidence": "softmax"},
        {"certified_rounds": 2, "confidence": "softmax", "query": "near-threshold"},
        {"certified_rounds": 3, "query": "margin", "validation_budget": 450},
        {"confidence": "temperature", "validation_budget": 400},
        {"confidence": "evidence"},
        {"given": 400},
        {"certified_rounds": 2, "query": "margin", "validation_budget": 400},
        {"validation_reuse": "folds", "confidence": "softmax"},
        {"validation_reuse": "folds", "certified_rounds": 3, "query": "margin", "validation_budget": 600},
        {"given": 600, "certified_rounds": 2},
        {
            "world": "imbalanced",
            "classes": 10,
            "train_budget": 120,
            "seed_size": 60,
            "batch_size": 30,
            "classifier": LinearDiscriminantAnalysis(),
        },
    ],
    ids=str,
)
def test_certified(settings):
    """With the automatic choice of confidence, which tells the rule what to expect, and with plain scores, which do
    not: the rule then shares delta in another way."""
    failed, coverage = failures(thresholds="certified", **settings)
    assert failed <= allowed_failures(DELTA)
    assert coverage > 0.1


def test_certified_with_a_classifier_chosen_by_the_labels():
    """Of three, in each round anew."""
    failed, coverage = failures(
        repetitions=100, thresholds="certified", n=900, classifier="features", seed_size=30, confidence="softmax"
    )
    assert failed <= allowed_failures(DELTA, 100)
    assert coverage > 0.1


@pytest.mark.parametrize("given", [0, 300])
def test_certified_when_asking_may_stop_early(given):
    """Most of these runs do, with 20 to 110 labels."""
    failed, coverage = failures(
        repetitions=200, thresholds="certified", confidence="auto", query="random", tolerance=0.13, train_budget=120,
        stop_early=True, given=given,
    )  # fmt: skip
    assert failed <= allowed_failures(DELTA, 200)
    assert coverage > 0.5


def test_the_harness_catches_the_papers_rule():
    """Few validation points per class, which is where it trusts eleven without an error."""
    failed, _ = failures(thresholds="paper", repetitions=200, tolerance=0.02, validation_budget=100)
    assert failed > allowed_failures(DELTA, 200)


@pytest.mark.parametrize(
    "settings",
    [{}, {"validation_reuse": "folds", "certified_rounds": 2, "validation_budget": 400, "confidence": "softmax"}],
    ids=str,
)
def test_certified_with_semi_supervised_training(settings):
    """The classifier has seen the inputs of pool and held-out points alike."""
    failed, coverage = failures(
        thresholds="certified", n=900, train_budget=30, classifier=LogisticRegression(), training="semi-supervised",
        **settings,
    )  # fmt: skip
    assert failed <= allowed_failures(DELTA)
    assert coverage > 0.1


def test_certified_with_a_network_that_learns_from_points_without_labels():
    """By consistency, which sees the pool far more often than the labels."""
    network = TorchClassifier(
        MLP(hidden=()), SemiSupervised(min_steps=40), epochs=5, batch_size=10, learning_rate=0.03, device="cpu"
    )
    failed, coverage = failures(
        repetitions=200, thresholds="certified", confidence="softmax", train_budget=30, classifier=network
    )
    assert failed <= allowed_failures(DELTA, 200)
    assert coverage > 0.1


@pytest.mark.parametrize("given", [0, 300])
def test_certified_with_embeddings_that_learn_from_points_without_labels(given):
    repetitions = 100
    failed, coverage = failures(
        "directions", repetitions, n=600, given=given, classifier="auto", training="semi-supervised"
    )
    assert failed <= allowed_failures(DELTA, repetitions)
    assert coverage > 0.1


class Misled(Classifier):
    """Says what the line between the two classes says, and the opposite of points it has seen without a label: the
    worst that learning from them can do."""

    def __init__(self, n):
        self.n = n

    @property
    def unlabelled_wanted(self):
        return self.n

    def check(self, x, n_classes):
        pass

    def fingerprint(self):
        return "misled"

    def with_training(self, method):
        return self

    def _fit(self, x, y, n_classes, seed, progress):
        raise AssertionError("points without labels were wanted")

    def _fit_with_unlabelled(self, x, y, unlabelled, n_classes, seed, progress):
        self.seen_ = unlabelled[:, 0]

    def _outputs(self, x):
        side = np.where(np.isin(x[:, 0], self.seen_), -1, 1) * (x.sum(axis=1) - 4)
        return Outputs(np.c_[-side, side], x)


def apart(rng: np.random.Generator, n: int):
    """Two classes that a line keeps apart."""
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 2)) + 4 * y[:, None], y


WORLDS["apart"] = apart


@pytest.mark.parametrize(("drawn", "labels_some"), [(50, True), (400, False)])
@pytest.mark.parametrize("given", [0, 300])
def test_a_classifier_misled_by_what_it_saw_without_labels_is_found_out(drawn, labels_some, given):
    """Held-out points were seen as often as the pool's, so they show how often it is wrong: 3 %, or a quarter."""
    failed, coverage = failures("apart", 300, given=given, classifier=Misled(drawn), confidence="softmax")
    assert failed <= allowed_failures(DELTA, 300)
    assert (coverage > 0.5) == labels_some


def test_the_harness_catches_points_without_labels_from_the_pool_alone(monkeypatch):
    def from_the_pool(self, training, n):
        rng = np.random.default_rng(0)
        return self._points.take(rng.choice(self._ledger.state.unlabelled(), size=n, replace=False))

    monkeypatch.setattr("labelsieve.engine.modelling.Modelling._unlabelled", from_the_pool)
    failed, _ = failures("apart", 20, classifier=Misled(400), confidence="softmax")
    assert failed > allowed_failures(DELTA, 20)


class Improving(Classifier):
    """Guesses until it has seen 100 labels, then says what feature 1 says; always unsure where feature 0 is 0."""

    def check(self, x, n_classes):
        pass

    def fingerprint(self):
        return "improving"

    def with_training(self, method):
        return self

    def _fit(self, x, y, n_classes, seed, progress):
        self.knows_ = len(y) >= 100

    def _outputs(self, x):
        says = x[:, 1] if self.knows_ else x[:, 2]
        strength = np.where(x[:, 0] == 0, 0.1, 2.0)
        return Outputs(np.c_[-strength * (says - 0.5), strength * (says - 0.5)], x)


class Arbitrary(ConfidenceFunction):
    """A score that has nothing to do with being right."""

    needs_fitting = False

    def _score(self, outputs):
        return outputs.features[:, 3]


def drifting(rng: np.random.Generator, n: int):
    """Two fifths of the points look hard and are easy once the classifier has improved; of the others 8 % stay wrong.

    Active queries take most of the first kind out of the pool. What is left is 7.7 % wrong, and validation points drawn
    at the start still say 4.8 %.
    """
    looks_easy, y = rng.uniform(size=n) < 0.6, rng.integers(2, size=n)
    said = np.where(looks_easy & (rng.uniform(size=n) < 0.08), 1 - y, y)
    return np.c_[looks_easy, said, rng.integers(2, size=n), rng.uniform(size=n)].astype(float), y


WORLDS["drifting"] = drifting
DRIFT = {
    "n": 3000, "tolerance": 0.065, "train_budget": 800, "seed_size": 50, "batch_size": 750, "query": "margin",
    "validation_budget": 1000, "thresholds": CertifiedRule(candidates=1), "classifier": Improving(),
    "confidence": Arbitrary(),
}  # fmt: skip


@pytest.mark.parametrize(("reuse", "holds"), [("fresh", True), ("folds", True), ("reuse", False)])
def test_a_pool_that_active_queries_have_changed(reuse, holds):
    """Labels drawn fresh notice it, and so do labels thinned as the pool was; labels drawn at the start and kept do
    not, and the harness catches them."""
    failed, _ = failures("drifting", validation_reuse=reuse, **DRIFT)
    assert (failed <= allowed_failures(DELTA)) == holds


def test_the_harness_catches_folds_that_are_not_thinned(monkeypatch):
    def select_only(query, pool, waiting, trained, n, rng):
        return query.select(pool, trained, n, rng), np.empty(0, dtype=np.int64)

    monkeypatch.setattr("labelsieve.engine.questions.select_and_thin", select_only)
    failed, _ = failures("drifting", validation_reuse="folds", **DRIFT)
    assert failed > allowed_failures(DELTA)


def test_thinned_folds_lose_as_large_a_share_as_the_pool():
    """A third of everything is asked about by its margin; a third of the waiting points goes with it."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(200):
        pool, waiting = rng.uniform(size=900), rng.uniform(size=300)
        _, given_up = select_and_thin(MarginRandom(), pool, waiting, np.empty(0), 300, rng)
        assert len(np.unique(given_up)) == len(given_up)
        shares.append(len(given_up) / 300)
    assert np.mean(shares) == pytest.approx(1 / 3, abs=0.01)
