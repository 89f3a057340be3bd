"""Regression on classes that bends: what all labelled points around a point say, weighed together."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from labelsieve.classifiers.nearest import AT_ONCE
from labelsieve.fitting.threads import for_each_chunk
from labelsieve.types import Array, Floats, Ints

_SHARPEST = 30.0
"""Beyond it, probabilities of classes that are told apart by nearly 1 would all be 1."""


class KernelRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Ridge regression on class indicators with a Gaussian kernel, also known as least-squares support vector machine
    (Suykens, Vandewalle 1999), in closed form, on rows that are centred: far from the origin, distances drown in
    rounding.

    What it says of each of its points with that one left out is in closed form, too, but for the shares of the classes,
    which are those of all. The softmax of its outputs is made as sharp as fits the labels best that way, which gives
    probabilities.

    bend: the kernel is exp(-bend · d² / mean d²). The smaller, the closer to linear; the ridge has to fall with it.
    ridge: what is added to the kernel of a point with itself; the larger, the smoother.
    most: points that are learned from; of more, so many are drawn at random. Time grows with their cube, memory with
        their square.
    """

    def __init__(
        self, bend: float = 2.0, ridge: float = 0.03, most: int = 10_000, random_state: int | None = None
    ) -> None:
        self.bend = bend
        self.ridge = ridge
        self.most = most
        self.random_state = random_state

    def fit(self, x: Array, y: Ints) -> Self:
        x = np.asarray(x, dtype=np.float32)
        self.classes_, own = np.unique(y, return_inverse=True)
        if len(x) > self.most:
            drawn = np.random.default_rng(self.random_state).choice(len(x), self.most, replace=False)
            x, own = x[drawn], own[drawn]
        self.points_ = x
        self.scale_ = self.bend / (_mean_squared_distance(x) or 1.0)
        targets = np.eye(len(self.classes_), dtype=np.float32)[own]
        self.shares_ = targets.mean(axis=0)
        kernel = self._kernel(x)
        kernel[np.diag_indices_from(kernel)] += self.ridge
        factor, lower = cho_factor(kernel.T, lower=True, overwrite_a=True)  # transposed, it lies as LAPACK wants it
        self.weights_ = cho_solve((factor, lower), targets - self.shares_)
        inverse, _ = lapack.spotri(factor, lower=lower, overwrite_c=True)
        left_out = targets - self.weights_ / inverse.diagonal()[:, None]
        self.sharpness_ = _best_sharpness(left_out.astype(np.float64), own)
        return self

    def predict_proba(self, x: Array) -> Floats:
        outputs = np.empty((len(x), len(self.classes_)))

        def fill(here: slice) -> None:
            outputs[here] = self._kernel(np.asarray(x[here], dtype=np.float32)) @ self.weights_

        for_each_chunk(len(x), max(1, AT_ONCE // len(self.points_)), fill)
        return np.asarray(softmax(self.sharpness_ * (outputs + self.shares_), axis=1))

    def predict(self, x: Array) -> Array:
        return np.asarray(self.classes_[self.predict_proba(x).argmax(axis=1)])

    def _kernel(self, x: Floats) -> Floats:
        """Of points and those learned from (n, m)."""
        near = x @ self.points_.T
        near *= 2
        near -= np.einsum("ij,ij->i", x, x)[:, None]
        near -= np.einsum("ij,ij->i", self.points_, self.points_)
        np.minimum(near, 0, out=near)
        near *= self.scale_
        return np.exp(near, out=near)


def _mean_squared_distance(x: Floats) -> float:
    return float(2 * x.var(axis=0, dtype=np.float64).sum())


def _best_sharpness(left_out: Floats, own: Ints) -> float:
    """Of a softmax, by the likelihood of labels that were left out."""

    def surprise(log_sharpness: float) -> Any:
        logits = np.exp(log_sharpness) * left_out
        return (logsumexp(logits, axis=1) - logits[np.arange(len(own)), own]).mean()

    return float(np.exp(minimize_scalar(surprise, bounds=(0.0, np.log(_SHARPEST)), method="bounded").x))
