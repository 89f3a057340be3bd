"""Keep the weights of the best epoch."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class BestEpoch:
    """Watches each member's loss on points kept aside; remembers its weights at the lowest and when to give up on it.

    A member that was given up stays as it was at its best, whatever the others still do.
    """

    def __init__(self, weights: Sequence[torch.Tensor], patience: int) -> None:
        self._weights = weights
        self._patience = patience
        first = weights[0]
        self._lowest = torch.full((len(first),), torch.inf, device=first.device)
        self._waited = torch.zeros(len(first), device=first.device)
        self._best: list[torch.Tensor] = []

    @torch.no_grad()
    def go_on(self, losses: torch.Tensor) -> bool:
        """Take note of one more epoch; False once ``patience`` epochs in a row brought no member anything better."""
        if not self._best:
            self._best = [weight.detach().clone() for weight in self._weights]
        waiting = self._waited < self._patience
        better = waiting & (losses < self._lowest)
        self._lowest = torch.where(better, losses, self._lowest)
        self._waited = torch.where(better, 0, self._waited + 1)
        for best, weight in zip(self._best, self._weights, strict=True):
            best.copy_(torch.where(_like(better, best), weight, best))
        return bool((self._waited < self._patience).any())

    @torch.no_grad()
    def restore(self) -> None:
        """Put the best weights back; where no loss was ever a number, or none was ever told, the last ones stay."""
        ever = self._lowest < torch.inf
        for best, weight in zip(self._best, self._weights, strict=bool(self._best)):
            weight.copy_(torch.where(_like(ever, best), best, weight))


def _like(members: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """(m,) so that it goes with values (m, ...)."""
    return members.view(-1, *[1] * (values.ndim - 1))
