"""Kernel regression: closed forms against what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from labelsieve.classifiers.kernel_regression import KernelRegression
from labelsieve.registry import create


def clouds(n: int, k: int = 3, width: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return (rng.normal(size=(n, width)) + 1.5 * np.eye(k, width)[y]).astype(np.float32), y


def kernel(x: np.ndarray, points: np.ndarray, scale: float) -> np.ndarray:
    return np.exp(-scale * ((x[:, None] - points) ** 2).sum(axis=2))


def test_outputs_are_those_of_ridge_regression_with_a_gaussian_kernel() -> None:
    (x, y), (fresh, _) = clouds(60), clouds(20, seed=1)
    fitted = KernelRegression(bend=1.5, ridge=0.2).fit(x, y)
    apart = ((x[:, None].astype(float) - x) ** 2).sum(axis=2)
    targets = np.eye(3)[y]
    shares = targets.mean(axis=0)
    scale = 1.5 / apart.mean()
    weights = np.linalg.solve(kernel(x, x, scale) + 0.2 * np.eye(60), targets - shares)
    expected = fitted.sharpness_ * (kernel(fresh, x, scale) @ weights + shares)
    np.testing.assert_allclose(np.log(fitted.predict_proba(fresh)), log_softmax(expected, axis=1), atol=1e-3)


def test_it_is_as_sharp_as_fits_labels_that_were_really_left_out() -> None:
    x, y = clouds(40)
    fitted = KernelRegression().fit(x, y)
    among, targets = kernel(x, x, fitted.scale_), np.eye(3)[y] - fitted.shares_
    left_out = np.empty((40, 3))
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        weights = np.linalg.solve(among[np.ix_(rest, rest)] + fitted.ridge * np.eye(39), targets[rest])
        left_out[row] = among[row, rest] @ weights + fitted.shares_

    def surprise(sharpness: float) -> float:
        return -log_softmax(sharpness * left_out, axis=1)[np.arange(40), y].sum()

    best = minimize_scalar(surprise, bounds=(1, 30), method="bounded").x
    assert fitted.sharpness_ == pytest.approx(best, rel=0.01)


def test_it_bends_where_a_line_cannot() -> None:
    x = np.random.default_rng(0).normal(size=(400, 2))
    y = (x[:, 0] * x[:, 1] > 0).astype(int)
    assert LogisticRegression().fit(x[:200], y[:200]).score(x[200:], y[200:]) < 0.65
    assert KernelRegression().fit(x[:200], y[:200]).score(x[200:], y[200:]) > 0.9


def test_probabilities_are_about_as_often_right_as_they_say() -> None:
    (x, y), (fresh, truth) = clouds(300), clouds(3_000, seed=1)
    fitted = KernelRegression().fit(x, y)
    top = fitted.predict_proba(fresh).max(axis=1)
    assert top.mean() == pytest.approx((fitted.predict(fresh) == truth).mean(), abs=0.06)


def test_of_too_many_points_it_learns_from_some_at_random() -> None:
    x, y = clouds(200)
    one, same, other = (KernelRegression(most=50, random_state=seed).fit(x, y) for seed in (0, 0, 1))
    assert len(one.points_) == 50
    np.testing.assert_array_equal(one.points_, same.points_)
    assert not np.array_equal(one.points_, other.points_)
    assert one.score(x, y) > 0.6


def test_the_seed_of_a_classifier_says_which_it_learns_from() -> None:
    x, y = clouds(200)
    some = [
        create("classifier", "kernel")
        .set_params(estimator__kernelregression__most=50)
        .fit(x, y, 3, seed=seed)
        .estimator_[-1]
        .points_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(some[0], some[1])
    assert not np.array_equal(some[0], some[2])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.repeat(clouds(10)[0], 5, axis=0), np.repeat(np.arange(10) % 2, 5)),
        (np.ones((20, 3)), np.arange(20) % 2),
        (clouds(20)[0], np.full(20, 7)),
        (clouds(2)[0], np.array([3, 8])),
    ],
    ids=["twins", "all alike", "one class", "two points"],
)
def test_odd_points_give_probabilities_all_the_same(x: np.ndarray, y: np.ndarray) -> None:
    fitted = KernelRegression().fit(x, y)
    said = fitted.predict_proba(x)
    assert said.shape == (len(x), len(np.unique(y)))
    np.testing.assert_allclose(said.sum(axis=1), 1)
    assert set(fitted.predict(x)) <= set(y)
