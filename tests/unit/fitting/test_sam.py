"""SAM on quadratics, whose answer is known."""

from __future__ import annotations

import torch

from labelsieve.fitting.sam import SAM


def test_steps_by_hand_for_each_member():
    """f(w) = ½ wᵀ A w: the step is −lr · A (w + ρ A w / |A w|), and with momentum it adds up."""
    a = torch.diag(torch.tensor([1.0, 4.0], dtype=torch.float64))
    starts = [torch.tensor([2.0, -1.0], dtype=torch.float64), torch.tensor([0.3, 5.0], dtype=torch.float64)]
    members, radii = [start.clone() for start in starts], [0.5, 0.1]
    optimiser = SAM([[w] for w in members], radii, [{"params": members, "lr": 0.1, "momentum": 0.9}])

    def closure():
        for w in members:
            w.grad = a @ w

    expected, velocity = [start.clone() for start in starts], [torch.zeros(2, dtype=torch.float64) for _ in starts]
    for _ in range(5):
        for i, radius in enumerate(radii):
            gradient = a @ expected[i]
            uphill = expected[i] + radius * gradient / gradient.norm()
            velocity[i] = 0.9 * velocity[i] + a @ uphill
            expected[i] = expected[i] - 0.1 * velocity[i]
        optimiser.step(closure)
        torch.testing.assert_close(members, expected, rtol=1e-7, atol=1e-9)


def test_a_member_of_several_tensors_has_one_gradient():
    """Two tensors of one network go uphill by the norm of both together."""
    parts = [torch.tensor([3.0]), torch.tensor([4.0])]
    seen = []
    optimiser = SAM([parts], [1.0], [{"params": parts, "lr": 0.1}])

    def closure():
        seen.append(torch.cat(parts).clone())
        for part in parts:
            part.grad = part.clone()

    optimiser.step(closure)
    torch.testing.assert_close(seen[1], torch.tensor([3.0, 4.0]) * 1.2)
