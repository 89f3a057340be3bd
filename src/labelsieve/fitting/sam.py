"""Sharpness-aware minimisation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch


class SAM(torch.optim.SGD):
    """SGD that steps along the gradient found a little uphill (Foret et al. 2021).

    Two looks at each batch: the first tells which way is up; the weights go ``radius`` that way, the second look gives
    the gradient there, and the step is taken with it from where the weights were.
    """

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        *,
        radius: float,
        lr: float,
        momentum: float,
        weight_decay: float,
    ) -> None:
        super().__init__(parameters, lr=lr, momentum=momentum, weight_decay=weight_decay)
        self.radius = radius

    def step(self, closure: Callable[[], torch.Tensor]) -> torch.Tensor:  # type: ignore[override]
        with torch.enable_grad():
            loss = closure()
        with torch.no_grad():
            weights = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
            before = [p.clone() for p in weights]
            gradients = [p.grad for p in weights]
            norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
            torch._foreach_add_(weights, torch._foreach_mul(gradients, self.radius / (norm + 1e-12)))
        with torch.enable_grad():
            closure()
        with torch.no_grad():
            torch._foreach_copy_(weights, before)
        super().step()
        return loss
