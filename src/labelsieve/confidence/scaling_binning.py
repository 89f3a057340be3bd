"""Scaling, then binning."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from labelsieve.confidence.base import ConfidenceFunction, of_predicted
from labelsieve.confidence.binning import bin_means, bin_of, uniform_mass_edges
from labelsieve.confidence.temperature import inverse_temperature
from labelsieve.types import Floats, Ints, Outputs


class ScalingBinning(ConfidenceFunction):
    """Temperature scaling rounded to the mean score of its bin (Kumar, Liang, Ma 2019).

    The calibration points are dealt into three disjoint thirds: one fits the temperature, one sets the edges of
    ``n_bins`` bins of equal counts, one gives each bin the mean of the scaled scores that fall into it.
    """

    def __init__(self, n_bins: int = 15, random_state: int | None = None) -> None:
        self.n_bins = n_bins
        self.random_state = random_state

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        order = np.random.default_rng(self.random_state or 0).permutation(len(y))
        self.parts_ = tuple(np.array_split(order, 3))
        for_temperature, for_edges, for_means = self.parts_
        self.inverse_temperature_ = inverse_temperature(outputs.logits[for_temperature], y[for_temperature])
        edge_scores = self._scaled(outputs[for_edges])
        self.edges_ = uniform_mass_edges(edge_scores, min(self.n_bins, len(edge_scores)))
        n_bins = len(self.edges_) + 1
        mean_scores = self._scaled(outputs[for_means])
        means = bin_means(mean_scores, bin_of(mean_scores, self.edges_), n_bins)
        # A bin the last third misses keeps the mean of the points that made the edges: every bin has one of those.
        from_edges = bin_means(edge_scores, bin_of(edge_scores, self.edges_), n_bins)
        self.values_ = np.where(np.isnan(means), from_edges, means)

    def _score(self, outputs: Outputs) -> Floats:
        return np.asarray(self.values_[bin_of(self._scaled(outputs), self.edges_)])

    def _scaled(self, outputs: Outputs) -> Floats:
        scaled = self.inverse_temperature_ * outputs.logits.astype(np.float64)
        return of_predicted(np.asarray(softmax(scaled, axis=1)), outputs)
