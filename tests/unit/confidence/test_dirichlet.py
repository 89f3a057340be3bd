"""Dirichlet calibration against a direct solve of the objective as written, with numerical gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from labelsieve.confidence import Dirichlet
from labelsieve.errors import ConfigurationError
from tests.contracts.test_confidence import right_and_wrong


def objective_as_written(parameters, probabilities, y, l2, off_diagonal, intercept):
    k = probabilities.shape[1]
    weights, bias = parameters[: k * k].reshape(k, k), parameters[k * k :]
    total = 0.0
    for p, label in zip(probabilities, y, strict=True):
        logits = [sum(weights[i, j] * math.log(p[j]) for j in range(k)) + bias[i] for i in range(k)]
        total -= logits[label] - math.log(sum(math.exp(value) for value in logits))
    total /= len(y)
    if not off_diagonal:
        return total + l2 * (sum(w * w for w in weights.ravel()) + sum(b * b for b in bias))
    off = sum(weights[i, j] ** 2 for i in range(k) for j in range(k) if i != j) / (k * (k - 1))
    return total + l2 * off + intercept * sum(b * b for b in bias) / k


@pytest.mark.parametrize(("l2", "off_diagonal", "intercept"), [(0.01, False, 0.0), (0.1, False, 0.0), (0.5, True, 0.2)])
def test_same_optimum_as_a_direct_solve(l2, off_diagonal, intercept):
    outputs, y = right_and_wrong(60, k=3)
    fitted = Dirichlet(l2=l2, off_diagonal=off_diagonal, intercept=intercept, max_iterations=2000).fit(outputs, y)
    direct = minimize(
        objective_as_written,
        np.zeros(12),
        args=(outputs.probabilities, y, l2, off_diagonal, intercept),
        method="BFGS",
        options={"gtol": 1e-7},
    )
    ours = np.r_[fitted.weights_.ravel(), fitted.bias_]
    value = objective_as_written(ours, outputs.probabilities, y, l2, off_diagonal, intercept)
    assert value == pytest.approx(direct.fun, abs=1e-6)
    np.testing.assert_allclose(ours, direct.x, atol=5e-3)


def test_scores_are_the_map_applied():
    outputs, y = right_and_wrong(200, k=4)
    fitted = Dirichlet().fit(outputs, y)
    row = 3
    logits = fitted.weights_ @ np.log(outputs.probabilities[row]) + fitted.bias_
    expected = np.exp(logits[outputs.predicted[row]]) / np.exp(logits).sum()
    assert fitted.score(outputs)[row] == pytest.approx(expected)


def test_what_a_gpu_would_compute_is_the_same(monkeypatch):
    """By torch, here on a CPU, the same objective."""
    outputs, y = right_and_wrong(200, k=4)
    by_numpy = Dirichlet().fit(outputs, y)
    monkeypatch.setattr(Dirichlet, "_where_to_compute", lambda *_: (torch, torch.from_numpy))
    by_torch = Dirichlet().fit(outputs, y)
    np.testing.assert_allclose(by_torch.weights_, by_numpy.weights_, atol=1e-6)
    np.testing.assert_allclose(by_torch.bias_, by_numpy.bias_, atol=1e-6)


@pytest.mark.parametrize(("n", "on_gpu"), [(60, False), (7000, True)])
def test_a_gpu_is_used_where_it_pays(n, on_gpu, monkeypatch):
    monkeypatch.setattr("labelsieve.fitting.devices.resolve_device", lambda _name: torch.device("cuda"))
    assert (Dirichlet()._where_to_compute(n * 40**2)[0] is torch) == on_gpu
    assert Dirichlet(device="cpu")._where_to_compute(n * 40**2)[0] is np


def test_a_device_that_is_none_is_refused_before_anything_is_asked():
    with pytest.raises(ConfigurationError, match="'cdua'"):
        Dirichlet(device="cdua").check_parameters()
