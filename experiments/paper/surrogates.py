"""The toy of the appendix "Tightness of surrogates": how close the smooth error and coverage come to the real ones.

x is uniform on (0, 1); the prediction is 1 from x = 0.25 on, the truth from 0.5 on; the confidence is g(x) = |w - x|.
Counted are the points with prediction 1, of which those below 0.5 are wrong. A point is labelled if g(x) is at least
the threshold t. The paper does not say which w and which α its figure has: here w = 0.25, the boundary of the
classifier, so that confidence is the distance from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from labelsieve.confidence.surrogate import surrogate_coverage, surrogate_error

PREDICTED_FROM, TRUE_FROM = 0.25, 0.5
ALPHAS = (1.0, 10.0, 100.0)
THRESHOLDS = np.linspace(0.0, 0.7, 141)
_POINTS = 30_000
"""A third of which, exactly, is wrong."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Error and coverage at each threshold; ``alpha`` is None for the real ones."""

    alpha: float | None
    thresholds: Floats
    error: Floats
    coverage: Floats


def curves(
    alphas: tuple[float, ...] = ALPHAS, thresholds: Floats = THRESHOLDS, w: float = PREDICTED_FROM
) -> list[Curve]:
    """The real curve, and one per α."""
    return [actual(thresholds, w), *(surrogate(alpha, thresholds, w) for alpha in alphas)]


def actual(thresholds: Floats = THRESHOLDS, w: float = PREDICTED_FROM) -> Curve:
    """What really happens at each threshold. The error of no points at all is 0."""
    margins, wrong = _margins(thresholds, w)
    labelled = (margins >= 0).double()
    n_labelled = labelled.sum(dim=1)
    error = (labelled * wrong).sum(dim=1) / n_labelled.clamp(min=1)
    return Curve(None, thresholds, error.numpy(), (n_labelled / margins.shape[1]).numpy())


def surrogate(alpha: float, thresholds: Floats = THRESHOLDS, w: float = PREDICTED_FROM) -> Curve:
    """Colander's smooth stand-ins, with σ(α · (g(x) - t)) in place of the step."""
    margins, wrong = _margins(thresholds, w)
    error, coverage = surrogate_error(margins, wrong, alpha), surrogate_coverage(margins, alpha)
    return Curve(alpha, thresholds, error.numpy(), coverage.numpy())


def _margins(thresholds: Floats, w: float) -> tuple[torch.Tensor, torch.Tensor]:
    """g(x) - t (thresholds, points) and which points are wrong, on a fine even grid of x."""
    x = PREDICTED_FROM + (1 - PREDICTED_FROM) * (torch.arange(_POINTS, dtype=torch.float64) + 0.5) / _POINTS
    return (w - x).abs() - torch.from_numpy(thresholds)[:, None], (x < TRUE_FROM).double()
