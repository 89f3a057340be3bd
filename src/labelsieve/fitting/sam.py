"""Sharpness-aware minimisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


class SAM(torch.optim.SGD):
    """SGD that steps along the gradient found a little uphill (Foret et al. 2021).

    Two looks at each batch: the first tells which way is up; the weights go a radius that way, the second look gives
    the gradient there, and the step is taken with it from where the weights were. Each of the members whose weights are
    stacked goes uphill by its own gradient, and by its own of the ``radii`` (m,).
    """

    def __init__(self, groups: list[dict[str, Any]], radii: Sequence[float], **options: Any) -> None:
        super().__init__(groups, **options)
        self._radii = torch.tensor(radii, device=groups[0]["params"][0].device)

    def step(self, closure: Callable[[], Any]) -> None:  # type: ignore[override]
        with torch.enable_grad():
            closure()
        weights = [weight for group in self.param_groups for weight in group["params"] if weight.grad is not None]
        with torch.no_grad():
            before = [weight.clone() for weight in weights]
            for group in self.param_groups:
                _go_uphill([w for w in group["params"] if w.grad is not None], self._radii[group["members"]])
        with torch.enable_grad():
            closure()
        with torch.no_grad():
            torch._foreach_copy_(weights, before)
        super().step()


def _go_uphill(weights: list[torch.Tensor], radii: torch.Tensor) -> None:
    """Each member by its radius, along the gradient of all its weights together."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    norms = [torch.linalg.vector_norm(gradient, dim=tuple(range(1, gradient.ndim))) for gradient in gradients]
    scale = radii / (torch.linalg.vector_norm(torch.stack(norms), dim=0) + 1e-12)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.addcmul_(gradient, scale.view(-1, *[1] * (gradient.ndim - 1)))
