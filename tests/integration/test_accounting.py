"""Nothing is labelled twice, nothing is lost, no budget is exceeded, no held-out label trains a classifier."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import labelsieve as ls
from labelsieve import registry
from labelsieve.engine.entries import Role
from labelsieve.engine.state import HUMAN
from labelsieve.errors import LabelsieveWarning, OneClassError

TRAINED_ON: list[list[int]] = []


class Spy(ClassifierMixin, BaseEstimator):
    """Naive Bayes that writes down which points it was trained on: feature 0 is the row number."""

    def fit(self, x, y):
        TRAINED_ON.append(x[:, 0].astype(int).tolist())
        self.model_ = GaussianNB().fit(x[:, 1:], y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, x):
        return self.model_.predict_proba(x[:, 1:])


@st.composite
def problems(draw):
    n, k = draw(st.integers(40, 140)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(k, size=n)
    x = np.c_[np.arange(n), rng.normal(size=(n, 2)) * draw(st.sampled_from([0.2, 1.0, 4.0])) + 2 * y[:, None]]
    train, validation = draw(st.integers(4, n // 3)), draw(st.integers(k, n // 3))
    return {
        "x": x,
        "y": y,
        "given": draw(st.booleans()),
        "classes": draw(st.sampled_from([k, None])),
        "train_budget": train,
        "validation_budget": validation,
        "seed_size": draw(st.none() | st.integers(1, train)),
        "batch_size": draw(st.none() | st.integers(1, train)),
        "query": draw(st.sampled_from(list(registry.BUILT_IN["query"]))),
        "max_rounds": draw(st.none() | st.integers(1, 4)),
        "label_rest": draw(st.booleans()),
        "tolerance": draw(st.sampled_from([0.01, 0.1, 0.5])),
        "random_state": draw(st.integers(0, 1000)),
        "thresholds": ls.thresholds.PaperRule(min_points=draw(st.integers(1, min(11, validation)))),
    }


@given(problem=problems())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_books_balance(problem):
    x, y, given_up_front = problem.pop("x"), problem.pop("y"), problem.pop("given")
    TRAINED_ON.clear()
    held_out = None
    if given_up_front:
        held_out = (x[: len(x) // 3], y[: len(x) // 3])
        x, y = x[len(x) // 3 :], y[len(y) // 3 :]
        problem["train_budget"] = min(problem["train_budget"], len(x))
        problem["seed_size"] = problem["batch_size"] = None
    annotator = ls.SimulatedAnnotator(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelsieveWarning)
        try:
            run = ls.autolabel(
                x, annotator, classifier=Spy(), confidence="softmax", validation=held_out, progress=False, **problem
            )
        except OneClassError:
            return

    labels, state = run.labels, run.ledger.state
    human, machine = labels[labels["source"] == "human"], labels[labels["source"] == "machine"]
    remaining = len(state.unlabelled())

    assert labels["id"].is_unique
    assert len(human) + len(machine) + remaining == len(x)
    assert remaining == 0 or not problem["label_rest"]
    assert len(annotator.asked) == len(set(annotator.asked)) == run.human_labels == len(human)
    assert run.coverage == len(machine) / len(x)

    assert (human["label"].to_numpy() == y[human["id"]]).all()
    assert (state.role[: len(x)] == Role.TRAIN).sum() <= problem["train_budget"]
    validation = human["role"].isin(["validation", "calibration", "threshold"])
    assert validation.sum() == (0 if given_up_front else problem["validation_budget"])
    assert ((state.probability[: len(x)][human["id"]] > 0) & (state.probability[: len(x)][human["id"]] <= 1)).all()

    codes = {name: code for code, name in enumerate(run.classes)}
    for report in run.rounds:
        mine = machine[machine["round"] == report.number]
        assert len(mine) == report.machine_labelled
        np.testing.assert_array_equal(mine["threshold"], report.thresholds[[codes[label] for label in mine["label"]]])
    assert (machine["confidence"] >= machine["threshold"]).all()
    assert np.isfinite(machine["threshold"]).all()
    assert problem["max_rounds"] is None or len(run.rounds) <= problem["max_rounds"]

    trainable = set(x[state.training()[state.training() < len(x)], 0].astype(int).tolist())
    for rows in TRAINED_ON:
        assert set(rows) <= trainable
    if TRAINED_ON and run.stop_reason == "the train budget is used":
        assert set(TRAINED_ON[-1]) == trainable  # the last batch asked for is trained on
    assert not np.any(state.held_out & (state.source != HUMAN))
