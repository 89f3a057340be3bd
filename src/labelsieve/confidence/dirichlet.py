"""Full Dirichlet calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from labelsieve.confidence.base import ConfidenceFunction, softmax_of_predicted
from labelsieve.types import Array, Floats, Ints, Outputs, to_numpy

_SMALLEST_LOG_PROBABILITY = -30.0
_WORTH_A_GPU = 10_000_000
"""Multiplications of one matrix product."""


class Dirichlet(ConfidenceFunction):
    """softmax(W · log p + b) of the classifier's probabilities p, by maximum likelihood (Kull et al. 2019).

    ``l2`` is the weight of the squared entries of W and b together, as in the reference code of the auto-labelling
    paper. With ``off_diagonal=True`` it bears on the mean squared off-diagonal entry of W alone and ``intercept`` on
    the mean squared entry of b, which is what the method's authors recommend. Started at W = 1, b = 0: the
    classifier's own softmax.
    """

    def __init__(
        self,
        l2: float = 0.01,
        off_diagonal: bool = False,
        intercept: float = 0.01,
        max_iterations: int = 300,
        device: str = "auto",
    ) -> None:
        self.l2 = l2
        self.off_diagonal = off_diagonal
        self.intercept = intercept
        self.max_iterations = max_iterations
        self.device = device

    def check_parameters(self) -> None:
        if self.device not in ("auto", "cpu"):
            from labelsieve.fitting.devices import resolve_device

            resolve_device(self.device)

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        k, n = outputs.logits.shape[1], len(y)
        of_weights, bias_penalty = self._penalties(k)
        xp, there = self._where_to_compute(n * k * k)
        log_p, rows, truth, weight_penalty = map(
            there, (_log_probabilities(outputs), np.arange(n), np.array(y), of_weights)
        )

        def objective(given: Floats) -> tuple[float, Floats]:
            parameters = there(given)
            weights, bias = parameters[:-k].reshape(k, k), parameters[-k:]
            logits = log_p @ weights.T + bias
            logits -= xp.amax(logits, axis=1, keepdims=True)
            of_truth = logits[rows, truth]
            residual = xp.exp(logits, out=logits)  # in place: this is the cost of a fit with many classes
            total = residual.sum(axis=1)
            value = (xp.log(total) - of_truth).mean()
            value += (weight_penalty * weights**2).sum() + (bias_penalty * bias**2).sum()
            residual /= total[:, None] * n
            residual[rows, truth] -= 1 / n
            gradient = residual.T @ log_p + 2 * weight_penalty * weights
            of_bias = residual.sum(axis=0) + 2 * bias_penalty * bias
            return float(value), to_numpy(xp.concatenate([gradient.ravel(), of_bias]))

        start = np.r_[np.eye(k).ravel(), np.zeros(k)]
        found = minimize(
            objective, start, jac=True, method="L-BFGS-B", options={"maxiter": self.max_iterations, "maxcor": 20}
        )
        self.weights_, self.bias_ = found.x[:-k].reshape(k, k), found.x[-k:]

    def _score(self, outputs: Outputs) -> Floats:
        return softmax_of_predicted(_log_probabilities(outputs) @ self.weights_.T + self.bias_, outputs)

    def _where_to_compute(self, multiplications: int) -> tuple[Any, Callable[[Array], Any]]:
        """numpy, or torch where a GPU is worth the way to it; and what brings an array there. Both know what the
        objective calls by the same names."""
        if multiplications >= _WORTH_A_GPU and self.device != "cpu":
            import torch

            from labelsieve.fitting.devices import resolve_device

            device = resolve_device(self.device)
            if device.type == "cuda":
                return torch, lambda values: torch.from_numpy(values).to(device)
        return np, lambda values: values

    def _penalties(self, k: int) -> tuple[Floats, float]:
        """Weight of each squared entry of W, and of each squared entry of b."""
        if self.off_diagonal:
            return self.l2 / (k * (k - 1)) * (1 - np.eye(k)), self.intercept / k
        return np.full((k, k), self.l2), self.l2


def _log_probabilities(outputs: Outputs) -> Floats:
    """Bounded below, so that one confident mistake does not drown the rest."""
    log_p = log_softmax(outputs.logits.astype(np.float64), axis=1)
    return np.maximum(log_p, _SMALLEST_LOG_PROBABILITY, out=log_p)
