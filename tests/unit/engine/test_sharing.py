"""What several runs want is done once."""

from __future__ import annotations

import numpy as np
import pytest

import labelsieve as ls
from labelsieve import registry
from labelsieve.classifiers import MLP, TorchClassifier
from labelsieve.confidence.softmax import Softmax
from labelsieve.confidence.temperature import Temperature
from labelsieve.data.pool import Pool
from labelsieve.engine import lockstep
from labelsieve.engine.points import Points
from labelsieve.engine.requests import ScorePool, TrainClassifier
from labelsieve.engine.sharing import performed_by
from labelsieve.queries.margin import Margin
from labelsieve.queries.random import Random

X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])


def training(x=X, y=Y, classifier=None, n_classes=2, seed=0, unlabelled=None):
    return TrainClassifier(classifier or TorchClassifier(MLP(hidden=(4,))), x, y, n_classes, seed, unlabelled)


def test_equal_trainings_are_shared():
    assert performed_by({3: training(), 5: training(X.copy(), Y.copy()), 7: training(seed=1)}) == {3: 3, 5: 3, 7: 7}


@pytest.mark.parametrize(
    ("name", "setting"),
    [("logistic", {"C": 7.0}), ("embedding", {"C": 7.0}), ("kernel", {"ridge": 7.0}), ("features", {"ridge": 7.0})],
)
def test_classifiers_made_of_others_are_compared_part_by_part(name, setting):
    one, same = (registry.create("classifier", name) for _ in range(2))
    other = registry.create("classifier", name)
    inner = other.candidates[-1] if name == "features" else other
    (inner.estimator[-1] if hasattr(inner.estimator, "steps") else inner.estimator).set_params(**setting)
    steps = {number: training(classifier=made) for number, made in enumerate((one, same, other))}
    assert performed_by(steps) == {0: 0, 1: 0, 2: 2}


def test_trainings_with_points_without_labels_are_shared_if_these_are_the_same():
    one, same, other = (training(unlabelled=points) for points in (X, X.copy(), X + 1))
    assert performed_by({0: one, 1: same, 2: other, 3: training()}) == {0: 0, 1: 0, 2: 2, 3: 3}


@pytest.mark.parametrize(
    "other",
    [
        training(seed=1),
        training(x=X + 1),
        training(y=1 - Y),
        training(n_classes=3),
        training(classifier=TorchClassifier(MLP(hidden=(5,)))),
        training(classifier=TorchClassifier(MLP(hidden=(4,)), epochs=3)),
        training(classifier=TorchClassifier(MLP(hidden=(4,))).with_training(registry.create("training", "crl"))),
    ],
    ids=["seed", "points", "labels", "classes", "network", "parameter", "training"],
)
def test_other_trainings_are_not(other):
    assert performed_by({0: training(), 1: other}) == {0: 0, 1: 1}


POOL = Pool(X)
MODEL = TorchClassifier(MLP(hidden=(4,)))


def scoring(rows=None, classifier=MODEL, confidence=None, query=None, points=None):
    return ScorePool(
        points or Points(POOL, None, 0),
        np.arange(4) if rows is None else rows,
        classifier,
        confidence or Softmax(),
        query or Margin(),
    )


def test_equal_scorings_of_one_model_are_shared():
    assert performed_by({0: scoring(), 1: scoring()}) == {0: 0, 1: 0}


@pytest.mark.parametrize(
    "other",
    [
        scoring(rows=np.array([0, 1, 2, 5])),
        scoring(classifier=TorchClassifier(MLP(hidden=(4,)))),
        scoring(confidence=Temperature()),
        scoring(query=Random()),
        scoring(points=Points(Pool(X), None, 0)),
        scoring(points=Points(POOL, Pool(X[:2]), 0)),
    ],
    ids=["rows", "model", "confidence", "query", "pool", "validation data"],
)
def test_other_scorings_are_not(other):
    assert performed_by({0: scoring(), 1: other}) == {0: 0, 1: 1}


def test_scores_of_fitted_functions_are_never_shared():
    assert performed_by({0: scoring(confidence=Temperature()), 1: scoring(confidence=Temperature())}) == {0: 0, 1: 1}


def test_runs_that_differ_in_their_last_step_alone_share_all_models(monkeypatch):
    """Under a certified rule the confidence function matters in the last round only."""
    trained = []
    fit_together = lockstep.fit_together

    def counting(steps):
        trained.extend(step for step in steps if isinstance(step, TrainClassifier))
        return fit_together(steps)

    monkeypatch.setattr(lockstep, "fit_together", counting)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    x = rng.normal(size=(600, 2)) + 3 * np.eye(3)[y][:, :2]
    settings = {
        "classes": 3, "train_budget": 60, "validation": (x[:260], y[:260]), "progress": False,
        "classifier": TorchClassifier(MLP(hidden=(8,)), epochs=10, device="cpu"),
    }  # fmt: skip
    own = [{"confidence": name} for name in ("softmax", "temperature", "dirichlet")]
    together = ls.autolabel_many(x[260:], ls.SimulatedAnnotator(y[260:]), own, **settings)
    assert len(trained) == len(together[0].rounds) > 1
    for run, settings_of_its_own in zip(together, own, strict=True):
        alone = ls.autolabel(x[260:], ls.SimulatedAnnotator(y[260:]), **settings, **settings_of_its_own)
        assert run.labels.equals(alone.labels)
