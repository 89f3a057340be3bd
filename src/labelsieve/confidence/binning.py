"""Bins that hold about the same number of points each."""

from __future__ import annotations

import numpy as np

from labelsieve.types import Floats, Ints


def uniform_mass_edges(scores: Floats, n_bins: int) -> Floats:
    """Inner edges between at most ``n_bins`` bins of about equal counts: halfway between the scores on either side.

    Tied scores share a bin, which can leave another one empty; that one is merged into the next.
    """
    ordered = np.sort(scores)
    first_of_next = (np.arange(1, n_bins) * len(ordered)) // n_bins
    edges = np.unique((ordered[first_of_next - 1] + ordered[first_of_next]) / 2)
    counts = np.bincount(bin_of(scores, edges), minlength=len(edges) + 1)
    return edges[counts[:-1] > 0]


def bin_of(scores: Floats, edges: Floats) -> Ints:
    """Bin number of each score, from 0 for the lowest; a score on an edge belongs to the bin above."""
    return np.searchsorted(edges, scores, side="right").astype(np.int64)


def bin_means(values: Floats, bins: Ints, n_bins: int) -> Floats:
    """Mean of the values in each bin, NaN for a bin without any."""
    counts = np.bincount(bins, minlength=n_bins)
    sums = np.bincount(bins, weights=values, minlength=n_bins)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
