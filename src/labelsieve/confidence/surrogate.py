"""Smooth stand-ins for coverage and error (Section 3.2 of the paper)."""

from __future__ import annotations

import torch
from torch.nn import functional


def surrogate_coverage(margins: torch.Tensor, alpha: float | torch.Tensor) -> torch.Tensor:
    """Mean of σ(α · margin) over the last axis, where a margin is score minus threshold (equation for P̃)."""
    return torch.sigmoid(alpha * margins).mean(dim=-1)


def surrogate_error(margins: torch.Tensor, wrong: torch.Tensor, alpha: float | torch.Tensor) -> torch.Tensor:
    """Share of wrong points along the last axis, each weighted by σ(α · margin) (equation for Ẽ).

    The weights σᵢ / Σ σⱼ are computed as a softmax of log σ, which is exact and never divides by zero, even when
    nothing at all is above its threshold.
    """
    return (torch.softmax(functional.logsigmoid(alpha * margins), dim=-1) * wrong).sum(dim=-1)
