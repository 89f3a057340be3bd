"""Temperature scaling."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from labelsieve.confidence.base import ConfidenceFunction, of_predicted
from labelsieve.errors import ConfigurationError
from labelsieve.types import Floats, Ints, Outputs

_LOG_RANGE = (-7.0, 7.0)
"""Where log(1 / temperature) is looked for: temperatures from about 0.001 to 1,100."""


class Temperature(ConfidenceFunction):
    """Softmax of logits / T, with T fitted by maximum likelihood (Guo et al. 2017).

    ``solver="lbfgs"`` goes to the optimum; ``solver="adam"`` is the paper's recipe (Adam, mini-batches, weight decay
    on T), which the other parameters are for. The order of points changes a little, since T moves probabilities
    differently in each row.
    """

    def __init__(
        self,
        solver: Literal["lbfgs", "adam"] = "lbfgs",
        learning_rate: float = 0.01,
        weight_decay: float = 0.01,
        epochs: int = 500,
        batch_size: int = 64,
        random_state: int | None = None,
    ) -> None:
        self.solver = solver
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch_size = batch_size
        self.random_state = random_state

    def check_parameters(self) -> None:
        if self.solver not in ("lbfgs", "adam"):
            raise ConfigurationError(f"solver must be 'lbfgs' or 'adam'; got {self.solver!r}.")

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        by_adam = self.solver == "adam"
        self.temperature_ = self._by_adam(outputs.logits, y) if by_adam else 1 / inverse_temperature(outputs.logits, y)

    def _score(self, outputs: Outputs) -> Floats:
        scaled = outputs.logits.astype(np.float64) / self.temperature_
        return of_predicted(np.asarray(softmax(scaled, axis=1)), outputs)

    def _by_adam(self, logits: Floats, y: Ints) -> float:
        import torch
        from torch.nn import functional

        from labelsieve.fitting.loop import minimise

        z, labels = torch.from_numpy(logits.astype(np.float64)), torch.from_numpy(y)
        temperature = torch.ones((), dtype=torch.float64, requires_grad=True)
        minimise(
            lambda rows: functional.cross_entropy(z[rows] / temperature, labels[rows]),
            torch.optim.Adam([temperature], lr=self.learning_rate, weight_decay=self.weight_decay),
            len(z),
            epochs=self.epochs,
            batch_size=self.batch_size,
            cosine_period=100,
            generator=torch.Generator().manual_seed(self.random_state or 0),
            device=z.device,
            after_epoch=lambda _done: True,
        )
        return max(float(temperature.detach()), float(np.exp(-_LOG_RANGE[1])))


def inverse_temperature(logits: Floats, y: Ints) -> float:
    """1 / T of largest likelihood; its logarithm is bounded, since a perfect classifier would send it to infinity."""
    z, rows = logits.astype(np.float64), np.arange(len(y))

    def negative_log_likelihood(log_inverse: Floats) -> tuple[float, Floats]:
        inverse = np.exp(log_inverse[0])
        log_p = log_softmax(inverse * z, axis=1)
        slope = inverse * ((np.exp(log_p) * z).sum(axis=1) - z[rows, y]).mean()
        return float(-log_p[rows, y].mean()), np.array([slope])

    found = minimize(
        negative_log_likelihood,
        np.zeros(1),
        jac=True,
        method="L-BFGS-B",
        bounds=[_LOG_RANGE],
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    return float(np.exp(found.x[0]))
