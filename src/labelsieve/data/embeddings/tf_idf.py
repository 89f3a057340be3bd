"""Words of texts, weighed and condensed: TF-IDF of one and two words in a row, on its strongest directions.

Nothing here knows a label, so all texts may be used: the pool and the held-out ones alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from labelsieve.data.embeddings.base import Contents, Progress, unit_rows
from labelsieve.types import Array

_MOST_TERMS = 50_000
_LEARNED_FROM_CHARACTERS = 25_000_000
"""Terms and directions are learned from this much text, spread evenly over the rows; counting every pair of words in
22 million characters takes 0.6 GB."""
_LONGEST_TEXT = 200_000
"""Characters; what comes after them is not looked at."""
_EXTRA_DIRECTIONS = 10
_ROUNDS = 5
_NO_STRENGTH = 1e-12
_BLOCK_ROWS = 1000
_WHAT = "weighing words"


class TfIdf:
    """``TfidfVectorizer`` and a truncated SVD, learned from texts in order."""

    def __init__(self, contents: Contents, n_characters: int, dimensions: int, progress: Progress) -> None:
        share = min(Fraction(1), Fraction(_LEARNED_FROM_CHARACTERS, max(1, n_characters)))
        self._n_texts = len(contents)
        self.learned_from = ceil(len(contents) * share)
        self._vectorizer, weights = _weights(contents, share, progress)
        self.n_terms = 0 if weights is None else int(weights.shape[1])
        self._directions = (
            np.zeros((0, 1), dtype=np.float32)
            if weights is None
            else strongest_directions(weights, dimensions, progress)
        )

    @property
    def width(self) -> int:
        """How many columns there are: at least one, which is zero where no text has a word."""
        return int(self._directions.shape[1])

    @property
    def note(self) -> str:
        """What was computed, in words."""
        if not self.n_terms:
            return "No text has a word in it: there is nothing to learn from."
        some = "" if self.learned_from == self._n_texts else f", learned from {self.learned_from} texts spread evenly"
        return f"TF-IDF of {self.n_terms} words and pairs of words, on its {self.width} strongest directions{some}."

    def rows(self, contents: Contents) -> Iterator[Array]:
        """One row of length 1 per text; a text without a known word is zero."""
        for chunk in contents.chunks():
            if self.n_terms:
                yield unit_rows(self._vectorizer.transform(_shortened(chunk)) @ self._directions)
            else:
                yield np.zeros((len(chunk), 1), dtype=np.float32)


def strongest_directions(weights: Any, dimensions: int, progress: Progress) -> Array:
    """The right singular vectors of a sparse matrix, strongest first, by subspace iteration over blocks of rows.

    What ``TruncatedSVD`` finds, without its arrays of rows × dimensions, and with a word on how far it is.
    """
    n_rows, n_terms = weights.shape
    kept = min(dimensions, n_rows, n_terms)
    width = min(kept + _EXTRA_DIRECTIONS, n_rows, n_terms)
    basis = np.random.default_rng(0).standard_normal((n_terms, width), dtype=np.float32)
    blocks = [weights[start : start + _BLOCK_ROWS] for start in range(0, n_rows, _BLOCK_ROWS)]
    steps, n_steps = 0, len(blocks) * (_ROUNDS + 1)
    progress(_WHAT, steps, n_steps)
    for _ in range(_ROUNDS):
        image = np.zeros_like(basis)
        for block in blocks:
            image += block.T @ (block @ basis)
            steps += 1
            progress(_WHAT, steps, n_steps)
        basis = _orthonormal(image)
    gram = np.zeros((width, width))
    for block in blocks:
        gram += _gram(block @ basis)
        steps += 1
        progress(_WHAT, steps, n_steps)
    directions = basis @ np.linalg.eigh(gram)[1][:, ::-1][:, :kept].astype(np.float32)
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(kept)]
    return np.asarray(directions * np.where(largest < 0, -1, 1), dtype=np.float32)


def _orthonormal(columns: Array) -> Array:
    """A basis of what the columns span, much faster than by QR; directions without any strength stay near zero."""
    strengths, axes = np.linalg.eigh(
        sum(_gram(columns[start : start + _BLOCK_ROWS]) for start in range(0, len(columns), _BLOCK_ROWS))
    )
    scale = np.sqrt(np.maximum(strengths, max(strengths[-1], np.finfo(np.float64).tiny) * _NO_STRENGTH))
    return np.asarray(columns @ (axes / scale).astype(np.float32))


def _gram(rows: Array) -> Array:
    precise = np.asarray(rows, dtype=np.float64)
    return np.asarray(precise.T @ precise)


def _weights(contents: Contents, share: Fraction, progress: Progress) -> tuple[Any, Any]:
    """A vectorizer, and the weights (rows, terms) it was learned from; none if there is not a word in any text."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    for least_texts in (2, 1):  # in how many texts a term must be; where no term is in two, one must do
        vectorizer = TfidfVectorizer(
            sublinear_tf=True,
            ngram_range=(1, 2),
            token_pattern=r"(?u)\b\w+\b",
            min_df=min(least_texts, len(contents)),
            max_features=_MOST_TERMS,
            dtype=np.float32,
        )
        try:
            return vectorizer, vectorizer.fit_transform(_sampled(contents, share, progress))
        except ValueError as error:
            if "empty vocabulary" not in str(error) and "no terms remain" not in str(error).lower():
                raise
    return None, None


def _sampled(contents: Contents, share: Fraction, progress: Progress) -> Iterator[str]:
    """This share of the texts, spread evenly, the first one among them."""
    row = 0
    for chunk in contents.chunks():
        for text in chunk:
            if share == 1 or ceil((row + 1) * share) > ceil(row * share):
                yield text[:_LONGEST_TEXT]
            row += 1
        progress("counting words", row, len(contents))
    progress("choosing words", 0, 1)  # seconds, of which scikit-learn says nothing


def _shortened(texts: list[str]) -> list[str]:
    return [text[:_LONGEST_TEXT] for text in texts]
