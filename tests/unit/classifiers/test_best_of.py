"""One of several classifiers, chosen by training labels."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from labelsieve.classifiers import SklearnClassifier
from labelsieve.classifiers.best_of import BestOf
from labelsieve.classifiers.training.crl import CRL
from labelsieve.classifiers.training.semi_supervised import SemiSupervised
from labelsieve.errors import ConfigurationError
from labelsieve.registry import create


def table(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that a small column tells apart, beside one of large numbers that mean nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    return np.c_[y + 0.3 * rng.normal(size=n), 1000 * rng.normal(size=n)].astype(np.float32), y


def clouds(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Three classes in three strong directions, beside sixty weak ones of noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    strong = 3 * np.eye(3)[y] + rng.normal(size=(n, 3))
    return np.c_[strong, 0.1 * rng.normal(size=(n, 60))].astype(np.float32), y


def halves(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Two classes on both sides of a plane through ten strong directions, beside sixty weak ones of noise."""
    rng = np.random.default_rng(0)
    strong = rng.normal(size=(n, 10))
    return np.c_[strong, 0.1 * rng.normal(size=(n, 60))].astype(np.float32), (strong.sum(axis=1) > 0).astype(int)


def crosses(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, each of them in two opposite places."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    places = 3 * np.eye(2)[y] * rng.choice([-1, 1], size=n)[:, None]
    return np.c_[places + 0.5 * rng.normal(size=(n, 2)), 0.1 * rng.normal(size=(n, 20))].astype(np.float32), y


@pytest.mark.parametrize(("problem", "number"), [(table, 1), (halves, 2), (crosses, 3)])
def test_tables_are_scaled_and_what_bends_is_for_bent_classes(problem, number):
    x, y = problem()
    fitted = create("classifier", "features").fit(x, y, int(y.max()) + 1, seed=0)
    assert fitted.chosen_.scale_inputs is (number == 1)
    name = ("logistic", "embedding", "kernel")[number - 1]
    assert (str(fitted), fitted.choice_) == ("one of logistic | embedding | kernel", f"{name} was chosen")
    alone = clone(fitted.candidates[number - 1]).fit(x, y, int(y.max()) + 1, seed=0)
    np.testing.assert_array_equal(fitted.outputs(x).logits, alone.outputs(x).logits)
    np.testing.assert_array_equal(fitted.outputs(x).features, alone.outputs(x).features)
    assert fitted.fingerprint() == alone.fingerprint()


def test_classifiers_of_this_package_are_called_by_their_names():
    own = SklearnClassifier(LogisticRegression(C=3.0))
    assert str(own) == repr(own)
    assert str(create("classifier", "logistic").set_params(scale_inputs=False)) == str(
        SklearnClassifier(LogisticRegression(C=0.1, max_iter=1000))
    )
    assert (
        str(create("classifier", "kernel").with_training(SemiSupervised(neighbours=5)))
        == "kernel, training=SemiSupervised(neighbours=5)"
    )


def test_folds_have_the_one_that_was_chosen():
    x, y = clouds()
    settled = create("classifier", "features").fit(x, y, 3, seed=0).settled()
    assert isinstance(settled, SklearnClassifier)
    assert not settled.scale_inputs


@pytest.mark.parametrize("n", [3, 19])
def test_few_labels_cannot_tell(n):
    x, y = clouds()
    few = np.r_[np.unique(y, return_index=True)[1], np.arange(n - 3)]
    assert create("classifier", "features").fit(x[few], y[few], 3, seed=0).chosen_.scale_inputs


def test_a_class_with_a_single_point_is_no_obstacle():
    x, y = table()
    y[:] = 0
    y[7] = 1
    assert create("classifier", "features").fit(x, y, 2, seed=0).chosen_.scale_inputs


def test_points_without_labels_go_to_the_one_that_was_chosen():
    x, y = clouds()
    learns = create("classifier", "features").with_training(SemiSupervised())
    assert learns.unlabelled_wanted > 0
    fitted = learns.fit(x[:100], y[:100], 3, seed=0, unlabelled=x[100:])
    assert "spread" in fitted.choice_
    with pytest.raises(ConfigurationError, match="learns from labelled ones"):
        create("classifier", "features").fit(x[:100], y[:100], 3, seed=0, unlabelled=x[100:])


def test_a_training_that_no_candidate_can_do():
    with pytest.raises(ConfigurationError, match="changes gradients"):
        BestOf([create("classifier", "logistic")]).with_training(CRL())
