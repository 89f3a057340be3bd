"""SAM on quadratics, whose answer is known."""

from __future__ import annotations

import torch

from labelsieve.fitting.members import OptimiserSettings, parameter_groups, set_gradients
from labelsieve.fitting.sam import SAM


def test_steps_by_hand_for_each_member():
    """f(w) = ½ wᵀ A w: the step is −lr · A (w + ρ A w / |A w|), and with momentum it adds up."""
    a = torch.diag(torch.tensor([1.0, 4.0], dtype=torch.float64))
    weights = torch.tensor([[2.0, -1.0], [0.3, 5.0], [1.0, 1.0]], dtype=torch.float64)
    radii, rates = [0.5, 0.1, 0.2], [0.1, 0.1, 0.02]
    expected, velocity = weights.clone(), torch.zeros_like(weights)
    optimiser = SAM(parameter_groups([weights], [OptimiserSettings(rate, 0.0, 0.9) for rate in rates]), radii)
    for _ in range(5):
        for i, (radius, rate) in enumerate(zip(radii, rates, strict=True)):
            gradient = a @ expected[i]
            uphill = expected[i] + radius * gradient / gradient.norm()
            velocity[i] = 0.9 * velocity[i] + a @ uphill
            expected[i] = expected[i] - rate * velocity[i]
        optimiser.step(lambda: set_gradients(optimiser, [weights @ a]))
        torch.testing.assert_close(weights, expected, rtol=1e-6, atol=1e-8)


def test_a_member_of_several_tensors_has_one_gradient():
    """Two tensors of one network go uphill by the norm of both together."""
    parts = [torch.tensor([[3.0]]), torch.tensor([[4.0]])]
    seen = []
    optimiser = SAM(parameter_groups(parts, [OptimiserSettings(0.1, 0.0)]), [1.0])

    def closure():
        seen.append(torch.cat(parts).flatten().clone())
        set_gradients(optimiser, [part.clone() for part in parts])

    optimiser.step(closure)
    torch.testing.assert_close(seen[1], torch.tensor([3.0, 4.0]) * 1.2)
