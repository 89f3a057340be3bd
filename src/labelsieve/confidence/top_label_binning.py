"""Top-label histogram binning."""

from __future__ import annotations

import numpy as np

from labelsieve.confidence.base import ConfidenceFunction, top_probability
from labelsieve.confidence.binning import bin_means, bin_of, uniform_mass_edges
from labelsieve.types import Floats, Ints, Outputs


class TopLabelBinning(ConfidenceFunction):
    """Share that was right, by predicted class and bin of its softmax probability (Gupta, Ramdas 2021).

    Bins of a class hold about ``points_per_bin`` calibration points each. Classes predicted for fewer points than that
    keep their softmax probability.
    """

    def __init__(self, points_per_bin: int = 25) -> None:
        self.points_per_bin = points_per_bin

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        scores, right = top_probability(outputs), (outputs.predicted == y).astype(float)
        self.edges_: dict[int, Floats] = {}
        self.values_: dict[int, Floats] = {}
        for label in np.unique(outputs.predicted).tolist():
            mine = outputs.predicted == label
            if mine.sum() < self.points_per_bin:
                continue
            edges = uniform_mass_edges(scores[mine], int(mine.sum()) // self.points_per_bin)
            self.edges_[label] = edges
            self.values_[label] = bin_means(right[mine], bin_of(scores[mine], edges), len(edges) + 1)

    def _score(self, outputs: Outputs) -> Floats:
        scores = top_probability(outputs)
        binned = scores.copy()
        for label, edges in self.edges_.items():
            mine = outputs.predicted == label
            binned[mine] = self.values_[label][bin_of(scores[mine], edges)]
        return binned
