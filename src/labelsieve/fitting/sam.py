"""Sharpness-aware minimisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


class SAM(torch.optim.SGD):
    """SGD that steps along the gradient found a little uphill (Foret et al. 2021).

    Two looks at each batch: the first tells which way is up; the weights go a radius that way, the second look gives
    the gradient there, and the step is taken with it from where the weights were. Each of ``members`` (the tensors of
    one network) goes uphill by its own gradient and its own radius.
    """

    def __init__(
        self,
        members: Sequence[Sequence[torch.Tensor]],
        radii: Sequence[float],
        groups: list[dict[str, Any]],
        **options: Any,
    ) -> None:
        super().__init__(groups, **options)
        self._members = [list(tensors) for tensors in members]
        self._radii = torch.tensor(radii, device=self._members[0][0].device)

    def step(self, closure: Callable[[], Any]) -> None:  # type: ignore[override]
        with torch.enable_grad():
            closure()
        weights = [weight for tensors in self._members for weight in tensors if weight.grad is not None]
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        with torch.no_grad():
            before = [weight.clone() for weight in weights]
            norms = torch.stack(torch._foreach_norm(gradients)).view(len(self._members), -1).norm(dim=1)
            scales = (self._radii / (norms + 1e-12)).repeat_interleave(len(weights) // len(self._members))
            torch._foreach_add_(weights, torch._foreach_mul(gradients, list(scales.unbind(0))))
        with torch.enable_grad():
            closure()
        with torch.no_grad():
            torch._foreach_copy_(weights, before)
        super().step()
