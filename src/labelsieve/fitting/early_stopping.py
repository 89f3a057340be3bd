"""Keep the weights of the best epoch."""

from __future__ import annotations

import torch


class BestEpoch:
    """Watches a loss on points kept aside; remembers the weights at its lowest and when to give up."""

    def __init__(self, weights: list[torch.Tensor], patience: int) -> None:
        self._weights = weights
        self._patience = patience
        self._lowest = float("inf")
        self._best: list[torch.Tensor] = []
        self._waited = 0

    def go_on(self, loss: float) -> bool:
        """Take note of one more epoch; False once ``patience`` epochs in a row brought nothing better."""
        if loss < self._lowest:
            self._lowest, self._waited = loss, 0
            self._best = [weight.detach().clone() for weight in self._weights]
        else:
            self._waited += 1
        return self._waited < self._patience

    @torch.no_grad()
    def restore(self) -> None:
        """Put the best weights back; if no loss was ever a number, the last ones stay."""
        if self._best:
            for weight, best in zip(self._weights, self._best, strict=True):
                weight.copy_(best)
