"""Bins that hold about the same number of points each."""

from __future__ import annotations

import numpy as np

from labelsieve.types import Floats, Ints


def uniform_mass_edges(scores: Floats, n_bins: int) -> Floats:
    """Inner edges between ``n_bins`` bins of about equal counts: halfway between the scores on either side."""
    ordered = np.sort(scores)
    first_of_next = (np.arange(1, n_bins) * len(ordered)) // n_bins
    edges = (ordered[first_of_next - 1] + ordered[first_of_next]) / 2
    return np.unique(edges)


def bin_of(scores: Floats, edges: Floats) -> Ints:
    """Bin number of each score, from 0 for the lowest; a score on an edge belongs to the bin above."""
    return np.searchsorted(edges, scores, side="right").astype(np.int64)


def bin_means(values: Floats, bins: Ints, n_bins: int, empty: Floats) -> Floats:
    """Mean of the values in each bin; a bin without any takes its entry of ``empty``."""
    counts = np.bincount(bins, minlength=n_bins)
    sums = np.bincount(bins, weights=values, minlength=n_bins)
    return np.where(counts > 0, sums / np.maximum(counts, 1), empty)
