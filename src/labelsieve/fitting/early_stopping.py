"""Keep the weights of the best epoch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from labelsieve.fitting.members import Rows


class BestEpoch:
    """Watches each member's loss on points kept aside; remembers its weights at the lowest and when to give up on it.

    A member that was given up stays as it was at its best, whatever the others still do.
    """

    def __init__(self, weights: Sequence[Rows], patience: int) -> None:
        self._weights = weights
        self._patience = patience
        first = weights[0].values
        self._lowest = torch.full((len(first),), torch.inf, device=first.device)
        self._waited = torch.zeros(len(first), device=first.device)
        self._best = [rows.values.detach().clone() for rows in weights]

    @torch.no_grad()
    def go_on(self, losses: torch.Tensor) -> bool:
        """Take note of one more epoch; False once ``patience`` epochs in a row brought no member anything better."""
        waiting = self._waited < self._patience
        better = waiting & (losses < self._lowest)
        self._lowest = torch.where(better, losses, self._lowest)
        self._waited = torch.where(better, 0, self._waited + 1)
        for best, rows in zip(self._best, self._weights, strict=True):
            best.copy_(torch.where(better[:, None], rows.values, best))
        return bool((self._waited < self._patience).any())

    @torch.no_grad()
    def restore(self) -> None:
        """Put the best weights back; where no loss was ever a number, the last ones stay."""
        ever = (self._lowest < torch.inf)[:, None]
        for best, rows in zip(self._best, self._weights, strict=True):
            rows.values.copy_(torch.where(ever, best, rows.values))
