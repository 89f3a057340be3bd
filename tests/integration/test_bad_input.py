"""Bad input gets a clear error — expected, got, remedy — before or without losing anything."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from torch import nn

import labelsieve as ls
from labelsieve.errors import (
    AnnotatorError,
    ConfigurationError,
    DataError,
    LabelError,
    OneClassError,
    UnknownMethodError,
    UnseenClassWarning,
)


class TwoTensors(nn.Linear):
    def forward(self, x):
        return super().forward(x), x


X = np.random.default_rng(0).normal(size=(60, 2))


def nan_pool():
    x = X.copy()
    x[3, 1] = np.nan
    return x


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"pool": nan_pool()}, DataError, r"finite numbers; 1 of 60.*rows 3"),
        ({"pool": np.where(X > 9, X, np.inf)}, DataError, "finite numbers; 60 of 60"),
        ({"pool": np.empty((0, 2))}, DataError, "at least one point"),
        ({"pool": np.ones(9)}, DataError, "features .* or colour images"),
        ({"pool": ["a text", "another"]}, DataError, "must be numeric; got .*embeddings of texts.*labelsieve init"),
        ({"pool": np.array(["a", None], dtype=object)}, DataError, "must be numeric; got dtype object"),
        ({"classes": ["only"]}, ConfigurationError, "at least two classes"),
        ({"train_budget": 0}, ConfigurationError, "train_budget must be a whole number from 1 on; got 0"),
        ({"train_budget": -5}, ConfigurationError, "train_budget .* got -5"),
        ({"train_budget": 2.5}, ConfigurationError, "train_budget .* got 2.5"),
        ({"train_budget": 10_000}, ConfigurationError, r"fit into the pool of 300 points; got 10000 \+ 90"),
        ({"validation_budget": 0}, ConfigurationError, "validation_budget .* got 0"),
        ({"validation_budget": -1}, ConfigurationError, "validation_budget .* got -1"),
        ({"validation_budget": 299}, ConfigurationError, "fit into the pool of 300"),
        ({"validation_budget": 2}, ConfigurationError, "one point per class; got 2 points for 3 classes"),
        ({"seed_size": 61}, ConfigurationError, "seed_size must not exceed train_budget; got 61 > 60"),
        ({"batch_size": 0}, ConfigurationError, "batch_size .* got 0"),
        ({"max_rounds": 0}, ConfigurationError, "max_rounds .* got 0"),
        ({"tolerance": 0}, ConfigurationError, "strictly between 0 and 1.*got 0"),
        ({"tolerance": 1.0}, ConfigurationError, "strictly between 0 and 1.*got 1.0"),
        ({"tolerance": "5%"}, ConfigurationError, "strictly between 0 and 1.*got '5%'"),
        ({"calibration_fraction": 1}, ConfigurationError, "calibration_fraction .* got 1"),
        ({"random_state": -1}, ConfigurationError, "random_state .* got -1"),
        ({"random_state": None}, ConfigurationError, "random_state .* got None"),
        ({"classifier": "magic"}, UnknownMethodError, "classifier must be one of 'auto', 'lenet', 'cnn'.*got 'magic'"),
        ({"training": "magic"}, UnknownMethodError, "training must be one of 'auto', 'vanilla'.*got 'magic'"),
        ({"confidence": "magic"}, UnknownMethodError, "confidence must be one of 'softmax'.*got 'magic'"),
        ({"thresholds": "magic"}, UnknownMethodError, "thresholds must be one of 'certified', 'paper'.*got 'magic'"),
        ({"query": "magic"}, UnknownMethodError, "query must be one of 'random'.*got 'magic'"),
        ({"classifier": 5}, ConfigurationError, "classifier must be one of 'auto', .* got 5"),
        ({"classifier": RidgeClassifier()}, ConfigurationError, "needs predict_proba.*RidgeClassifier has none"),
        ({"confidence": ls.confidence.Softmax}, ConfigurationError, "or an instance; got <class"),
        ({"query": ls.confidence.Softmax()}, ConfigurationError, "query must be one of"),
        ({"thresholds": ls.thresholds.PaperRule(tolerance=0.1)}, ConfigurationError, "tolerance=0.1, the run for"),
        ({"classifier": "lenet"}, ConfigurationError, "'lenet' needs images"),
        ({"classifier": RidgeClassifier}, ConfigurationError, r"an instance, not a class: RidgeClassifier\(\)"),
        (
            {"classifier": nn.Linear(2, 3)},
            ConfigurationError,
            r"\(point_shape, n_classes\).*raised TypeError",
        ),
        ({"classifier": lambda shape, k: TwoTensors(2, k + 1)}, ConfigurationError, "one logit per class, 3 .* got 4"),
        ({"classifier": lambda shape, k: nn.Linear(2, k)}, ConfigurationError, "must return two tensors"),
        ({"classifier": "mlp", "training": 123}, ConfigurationError, "training must be one of .* got 123"),
        ({"classifier": "mlp", "device": "abacus"}, ConfigurationError, "'auto', 'cpu' or 'cuda'; got 'abacus'"),
        ({"confidence": ls.confidence.Colander(features="all")}, ConfigurationError, "features must be .* got 'all'"),
        ({"confidence": ls.confidence.Colander(early_stopping=1.5)}, ConfigurationError, "early_stopping .* got 1.5"),
        ({"confidence": ls.confidence.Temperature(solver="sgd")}, ConfigurationError, "solver must be .* got 'sgd'"),
        ({"validation_budget": 10}, ConfigurationError, "at least 11 validation points .* 10 of 10 are left"),
        (
            {"validation_budget": 20, "confidence": "temperature"},
            ConfigurationError,
            "10 of 20 are left .*Temperature",
        ),
        ({"classes": "abc"}, ConfigurationError, "list of names, a whole number, or None; got 'abc'"),
        ({"classes": 3.0}, ConfigurationError, "list of names, a whole number, or None; got 3.0"),
        (
            {"pool": np.ones((30, 3, 20, 20)), "train_budget": 5, "validation_budget": 11, "classifier": "auto"},
            ConfigurationError,
            "channels last",
        ),
        ({"pool": [[1, 2], [3]]}, DataError, "every point of the same shape"),
        ({"validation": (X, None)}, DataError, "pair .* of points and labels"),
        ({"annotator": 3}, ConfigurationError, r"label\(ids\).*SimulatedAnnotator"),
        ({"validation": X}, DataError, r"pair \(X, y\)"),
        ({"validation": (np.ones((9, 5)), [0] * 9)}, DataError, r"shape of pool points, \(2,\); got \(5,\)"),
        ({"validation": (X, [0] * 59)}, DataError, "60 points and 59 labels"),
        ({"validation": (nan_pool(), [0] * 60)}, DataError, "validation data must hold finite"),
        ({"validation": (X, [7] * 60)}, LabelError, "one of the 3 classes .* got 7"),
        ({"validation": (X[:2], [0, 1])}, ConfigurationError, "one point per class; got 2 points for 3"),
        ({"ledger": "file.db"}, ConfigurationError, "ledger must be an ls.Ledger"),
    ],
)
def test_refused_before_anything_is_asked(small_run, blobs, settings, error, message):
    annotator = ls.SimulatedAnnotator(blobs[1])
    with pytest.raises(error, match=message):
        small_run(**({"annotator": annotator} | settings))
    assert annotator.asked == []


def test_duplicate_ids(blobs):
    with pytest.raises(DataError, match=r"unique; 1 occur more than once, the first is .*0"):
        ls.Pool(blobs[0], ids=[0, *range(299)])


def test_pool_of_one_class(small_run):
    ledger = ls.Ledger()
    with pytest.raises(OneClassError, match="at least two classes; all 60 answers were 1") as caught:
        small_run(annotator=lambda ids: [1] * len(ids), ledger=ledger)
    assert caught.value.ledger is ledger
    assert len(ledger.state.training()) == 60


@pytest.mark.parametrize(
    ("answer", "message", "kept"),
    [
        (lambda ids: [0] * (len(ids) - 1), "90 were asked for and 89 came back", 0),
        (lambda ids: [0] * (len(ids) + 1), "90 were asked for and more than 90 came back", 0),
        (lambda ids: None, "expected a list of 90 labels, or a mapping .* got None", 0),
        (lambda ids: "spam", "expected a list of 90 labels, .* got 'spam'", 0),
        (lambda ids: 7, "expected a list of 90 labels, .* got 7", 0),
        (
            lambda ids: [None, *[0] * (len(ids) - 1)],
            "cannot be used: A label must be a string or an integer; got None",
            89,
        ),
        (lambda ids: [0, "spam", "ham", *[0] * (len(ids) - 3)], "got 'spam'.* 1 more answers cannot be used", 88),
        (lambda ids: 1 / 0, "raised ZeroDivisionError: division by zero — 0 of the last 90 labels", 0),
    ],
)
def test_annotator_that_answers_badly(small_run, answer, message, kept):
    with pytest.raises(AnnotatorError, match=message) as caught:
        small_run(annotator=answer)
    assert (caught.value.ledger.state.source != 0).sum() == kept
    assert "ledger=error.ledger" in str(caught.value)


def test_a_class_without_a_training_label_is_warned_of_and_never_labelled_by_machine(blobs):
    x, y = blobs
    rare = np.where((y == 2) & (np.arange(300) % 10 != 0), 1, y)  # a handful of class 2, which the seed batch misses
    with pytest.warns(UnseenClassWarning, match="for 2 of 4 classes: 2, 3"):
        run = ls.autolabel(
            x, ls.SimulatedAnnotator(rare), classes=4, train_budget=20, seed_size=20, validation_budget=150,
            classifier="logistic", random_state=0, progress=False, thresholds=ls.thresholds.PaperRule(min_points=2),
        )  # fmt: skip
    assert run.machine_labels > 0
    assert set(run.labels.query("source == 'machine'")["label"]) <= {0, 1}
