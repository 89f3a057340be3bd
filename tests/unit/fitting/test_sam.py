"""SAM on a quadratic, whose answer is known."""

from __future__ import annotations

import torch

from labelsieve.fitting.sam import SAM


def test_steps_by_hand():
    """f(w) = ½ wᵀ A w: the step is −lr · A (w + ρ A w / |A w|), and with momentum it adds up."""
    a = torch.diag(torch.tensor([1.0, 4.0], dtype=torch.float64))
    w = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    optimiser = SAM([w], radius=0.5, lr=0.1, momentum=0.9, weight_decay=0.0)

    def closure():
        optimiser.zero_grad()
        loss = 0.5 * w @ a @ w
        loss.backward()
        return loss

    expected, velocity = w.detach().clone(), torch.zeros(2, dtype=torch.float64)
    for _ in range(5):
        gradient = a @ expected
        uphill = expected + 0.5 * gradient / gradient.norm()
        velocity = 0.9 * velocity + a @ uphill
        expected = expected - 0.1 * velocity
        optimiser.step(closure)
        torch.testing.assert_close(w.detach(), expected, rtol=1e-9, atol=1e-12)


def test_returns_the_loss_before_the_step():
    w = torch.tensor([3.0], requires_grad=True)
    optimiser = SAM([w], radius=0.05, lr=0.1, momentum=0.0, weight_decay=0.0)

    def closure():
        optimiser.zero_grad()
        loss = w.square().sum()
        loss.backward()
        return loss

    assert optimiser.step(closure).item() == 9.0
