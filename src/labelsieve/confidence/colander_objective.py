"""Colander's optimisation problem (P3) for many members at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn.utils.rnn import pad_sequence

from labelsieve.confidence.surrogate import surrogate_coverage, surrogate_error
from labelsieve.fitting.members import OptimiserSettings, StackedModules
from labelsieve.fitting.paces import NOBODY
from labelsieve.types import Floats, Ints

if TYPE_CHECKING:
    from labelsieve.confidence.colander import Colander

_FIRST_THRESHOLD_QUANTILE = 0.3


@dataclass(frozen=True, eq=False)
class Points:
    """Calibration points: network inputs, β · logits, predicted class, whether that is wrong; rows to learn from and
    rows to choose the epoch by; and what the inputs were scaled with."""

    z: Floats
    anchor: Floats
    predicted: Ints
    wrong: Floats
    learning: Ints
    watching: Ints
    centre: Floats
    spread: Floats
    beta: float


class StackedPoints:
    """The points of each member, on the device. Members may share points, which are then kept once. Where some have
    fewer than others (``uneven``), the rest is filled up.

    ``copy``: one copy per member after all, which costs memory and saves gathering them again at every full batch.
    """

    def __init__(self, sets: Sequence[Points], sources: Sequence[int], device: torch.device, copy: bool) -> None:
        self._source = torch.tensor(sources, device=device)

        def on_device(name: str) -> torch.Tensor:
            of_sets = [torch.from_numpy(getattr(points, name)) for points in sets]
            return pad_sequence(of_sets, batch_first=True).to(device)

        sizes = torch.tensor([len(points.z) for points in sets], device=device)[self._source]
        self.uneven = bool((sizes != sizes[0]).any())
        self.present = torch.arange(int(sizes.max()), device=device) < sizes[:, None]
        self._learning, self.watching = on_device("learning")[self._source], on_device("watching")[self._source]
        self.n_watching = self.watching.shape[1]
        self._values = [on_device(name) for name in ("z", "anchor", "predicted", "wrong")]
        if copy and len(sets) < len(sources):
            self._values = [values[self._source] for values in self._values]
            self._source = torch.arange(len(sources), device=device)

    def learning(self, positions: torch.Tensor) -> torch.Tensor:
        """The rows to learn from (m, b), counted by themselves, or ``NOBODY``."""
        if not self.uneven:
            return self._learning.gather(1, positions)
        return self._learning.gather(1, positions.clamp(min=0)).where(positions != NOBODY, NOBODY)

    def at(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """z, anchor, predicted and wrong (m, b, ...) at rows (m, b); any where there is ``NOBODY``."""
        rows = rows.clamp(min=0) if self.uneven else rows
        return [values[self._source[:, None], rows] for values in self._values]

    def everything(self) -> list[torch.Tensor]:
        """The same of all points."""
        return [values[self._source] for values in self._values]


class Objective:
    """−P̃ + λ Ẽ of every member, as a function of its network and its thresholds."""

    def __init__(
        self, members: Sequence[Colander], points: StackedPoints, n_classes: int, device: torch.device
    ) -> None:
        self._members = members
        self._points = points
        self._per_class, self._anchored = members[0].per_class, members[0].anchor is not None
        self._alpha = torch.tensor([member.alpha for member in members], device=device)[:, None]
        self._penalty = torch.tensor([member.penalty for member in members], device=device)
        self._networks = StackedModules([member.network_ for member in members], device)
        self._thresholds = self._first_thresholds(n_classes).requires_grad_()
        self.weights = [*self._networks.weights, self._thresholds]

    def losses(self, rows: torch.Tensor) -> torch.Tensor:
        """(m,) of the points at rows (m, b)."""
        z, anchor, predicted, wrong = self._points.at(rows)
        confidence = confidence_in_predicted(anchor, self._networks(z), predicted, self._anchored)
        thresholds = self._thresholds
        margins = confidence - (thresholds.gather(1, predicted) if self._per_class else thresholds)
        more: float | torch.Tensor = 1.0
        if self._points.uneven:  # nobody passes no threshold, and counts for nothing
            present = rows != NOBODY
            margins = margins.where(present, -torch.inf)
            more = rows.shape[1] / present.sum(dim=1)
        coverage = more * surrogate_coverage(margins, self._alpha)
        return -coverage + self._penalty * surrogate_error(margins, wrong, self._alpha)

    def settings(self, settings: Sequence[OptimiserSettings]) -> list[list[OptimiserSettings]]:
        """Of each weight, for each member: networks with their weight decay, thresholds without."""
        of_thresholds = [OptimiserSettings(wanted.learning_rate, weight_decay=0.0) for wanted in settings]
        return [*[list(settings)] * len(self._networks.weights), of_thresholds]

    def gradients(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """Of all weights, at the points of these rows."""
        return list(torch.autograd.grad(self.losses(rows).sum(), self.weights))

    def write_back(self) -> None:
        """Give each member its network and its thresholds."""
        self._networks.write_back([member.network_ for member in self._members])
        for member, thresholds in zip(self._members, self._thresholds.detach(), strict=True):
            member.network_.to(thresholds.device)
            member.thresholds_ = thresholds.cpu().numpy()

    @torch.no_grad()
    def _first_thresholds(self, n_classes: int) -> torch.Tensor:
        """Inside the range of the first scores: a threshold that nothing, or everything, exceeds has no gradient."""
        z, anchor, predicted, _ = self._points.everything()
        scores = confidence_in_predicted(anchor, self._networks(z), predicted, self._anchored)
        first = torch.nanquantile(scores.where(self._points.present, torch.nan), _FIRST_THRESHOLD_QUANTILE, dim=1)
        return first[:, None].repeat(1, n_classes if self._per_class else 1)


def confidence_in_predicted(
    anchor: torch.Tensor, learned: torch.Tensor, predicted: torch.Tensor, anchored: bool
) -> torch.Tensor:
    """g(x)[ŷ] (..., n) from β · logits (..., n, k) and what the network says (..., n, k or k + 1)."""
    n_classes, of_predicted = anchor.shape[-1], predicted[..., None]
    logits = anchor + learned[..., :n_classes]
    if anchored:
        # A shift of all classes alike cancels in a softmax. This output is where evidence goes that speaks for or
        # against a prediction whatever its class.
        logits = logits.scatter_add(-1, of_predicted, learned[..., n_classes:])
    return logits.softmax(dim=-1).gather(-1, of_predicted)[..., 0]
