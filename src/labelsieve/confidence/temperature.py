"""Temperature scaling."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from labelsieve.confidence.base import ConfidenceFunction, softmax_of_predicted
from labelsieve.errors import ConfigurationError
from labelsieve.types import Floats, Ints, Outputs

_LOG_RANGE = (-7.0, 7.0)
"""Where log(1 / temperature) is looked for: temperatures from about 0.001 to 1,100."""

_IGNORED = -100
"""What stands for the label of nobody."""


class Temperature(ConfidenceFunction):
    """Softmax of logits / T, with T fitted by maximum likelihood (Guo et al. 2017).

    ``solver="lbfgs"`` goes to the optimum; ``solver="adam"`` is the paper's recipe (Adam, mini-batches, weight decay
    on T), which all other parameters are for. The order of points changes a little, since T moves probabilities
    differently in each row.
    """

    def __init__(
        self,
        solver: Literal["lbfgs", "adam"] = "lbfgs",
        learning_rate: float = 0.01,
        weight_decay: float = 0.01,
        epochs: int = 500,
        batch_size: int = 64,
        device: str = "auto",
        random_state: int | None = None,
    ) -> None:
        self.solver = solver
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch_size = batch_size
        self.device = device
        self.random_state = random_state

    def check_parameters(self) -> None:
        if self.solver not in ("lbfgs", "adam"):
            raise ConfigurationError(f"solver must be 'lbfgs' or 'adam'; got {self.solver!r}.")

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        if self.solver == "adam":
            self._fit_stack([self], [outputs], [y])
        else:
            self.temperature_ = 1 / inverse_temperature(outputs.logits, y)

    def _score(self, outputs: Outputs) -> Floats:
        return softmax_of_predicted(outputs.logits.astype(np.float64) / self.temperature_, outputs)

    def stack_key(self, outputs: Outputs) -> Hashable:
        if self.solver != "adam":
            return None
        as_many = len(outputs) if self.batch_size is None else None  # full batches are of one size
        return (type(self), as_many, outputs.logits.shape[1], self.epochs, self.batch_size, self.device)

    def members_at_once(self, outputs: Outputs) -> int:
        from labelsieve.fitting.devices import members_that_pay, resolve_device

        return members_that_pay(8, 8 * outputs.logits.size, resolve_device(self.device))

    @classmethod
    def _fit_stack(cls, members: Sequence[Temperature], outputs: Sequence[Outputs], ys: Sequence[Ints]) -> None:
        import torch
        from torch.nn import functional
        from torch.nn.utils.rnn import pad_sequence

        from labelsieve.fitting.adam import descend_by_adam
        from labelsieve.fitting.devices import resolve_device
        from labelsieve.fitting.members import OptimiserSettings
        from labelsieve.fitting.paces import NOBODY
        from labelsieve.fitting.turns import take_turns

        first, device = members[0], resolve_device(members[0].device)
        logits = pad_sequence(
            [torch.from_numpy(np.array(said.logits, dtype=np.float64)) for said in outputs], batch_first=True
        ).to(device)
        labels = pad_sequence([torch.from_numpy(np.array(y)) for y in ys], batch_first=True).to(device)
        which = torch.arange(len(members), device=device)[:, None]
        temperatures = torch.ones(len(members), 1, dtype=torch.float64, device=device, requires_grad=True)
        settings = [OptimiserSettings(member.learning_rate, member.weight_decay) for member in members]

        def gradients(rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
            scaled = logits[which, rows.clamp(min=0)] / temperatures[:, :, None]
            truth = torch.where(rows == NOBODY, _IGNORED, labels[which, rows.clamp(min=0)])
            losses = functional.cross_entropy(
                scaled.flatten(0, 1), truth.flatten(), reduction="none", ignore_index=_IGNORED
            )
            means = losses.view(rows.shape).sum(dim=1) / (rows != NOBODY).sum(dim=1)
            return torch.autograd.grad(means.sum(), [temperatures])

        descent = descend_by_adam(
            gradients,
            [temperatures],
            [settings],
            [len(y) for y in ys],
            epochs=first.epochs,
            batch_size=first.batch_size,
            cosine_period=100,
            seeds=[member.random_state or 0 for member in members],
            device=device,
        )
        take_turns([descent], device)
        for member, temperature in zip(members, temperatures.tolist(), strict=True):
            member.temperature_ = max(temperature[0], float(np.exp(-_LOG_RANGE[1])))


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
