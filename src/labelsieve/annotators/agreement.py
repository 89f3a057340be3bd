"""Several annotators per item: what most of them say, and how far they agree.

Answers are a table with the columns item, annotator and label; nobody answers twice for one item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from labelsieve.errors import DataError
from labelsieve.types import Array, Ints

_COLUMNS = ("item", "annotator", "label")


class Coefficient(NamedTuple):
    """A measure of agreement: 1 for all alike, 0 for no better than chance; None where it is undefined.

    ``items``: how many it was taken from; ``words``: why it is undefined, else empty.
    """

    value: float | None
    items: int
    words: str = ""


class PairAgreement(NamedTuple):
    """Two annotators on the items both answered: the share they label alike, and Cohen's kappa."""

    first: Any
    second: Any
    agreement: float | None
    kappa: Coefficient


@dataclass(frozen=True)
class Agreement:
    """How far all annotators agree, over the items with at least two answers.

    ``agreement``: the share of pairs of answers to one item that are alike, averaged over items. ``fleiss`` needs the
    same number of answers for each item, ``alpha`` (Krippendorff's, nominal) does not.
    """

    agreement: float | None
    items: int
    fleiss: Coefficient
    alpha: Coefficient
    pairs: tuple[PairAgreement, ...]

    @property
    def coefficients(self) -> dict[str, Coefficient]:
        """By name: Cohen's kappa if two people share items, Fleiss' if more do; and Krippendorff's alpha."""
        kappas = [pair.kappa for pair in self.pairs if pair.kappa.items]
        kappa = {"Cohen's kappa": kappas[0]} if len(kappas) == 1 else {"Fleiss' kappa": self.fleiss}
        return {**kappa, "Krippendorff's alpha": self.alpha}

    def in_words(self) -> str:
        """One line for people."""
        if self.agreement is None:
            return "No item has two answers."
        told = [
            f"{name} {'is undefined' if found.value is None else f'{found.value:.2f}'}"
            for name, found in self.coefficients.items()
        ]
        why = dict.fromkeys(found.words for found in self.coefficients.values() if found.words)
        shared = f"{self.agreement:.0%} of pairs of answers agree, on {self.items:,} items"
        return " ".join([f"{shared}; {', '.join(told)}.", *why])


def majority(answers: pd.DataFrame) -> pd.DataFrame:
    """One row per item, in order of appearance: item, label, votes for it, number of answers, undecided.

    The label is the one that most annotators give. Where several have the most votes, there is none yet.
    """
    votes = _Votes(answers)
    most = np.zeros(len(votes.items), dtype=np.int64)
    np.maximum.at(most, votes.item_of, votes.count)
    leading = votes.count == most[votes.item_of]
    leaders = np.bincount(votes.item_of[leading], minlength=len(votes.items))
    winner = np.zeros(len(votes.items), dtype=np.int64)
    winner[votes.item_of[leading]] = votes.label_of[leading]
    undecided = leaders != 1
    labels = np.asarray(votes.labels, dtype=object)[winner] if len(winner) else np.empty(0, dtype=object)
    labels[undecided] = None
    return pd.DataFrame(
        {
            "item": votes.items,
            "label": pd.Series(labels, dtype=object),
            "votes": most,
            "answers": votes.answers_per_item,
            "undecided": undecided,
        }
    )


def disagreements(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers to items that not all label alike, in the order they came, with ``undecided`` beside them."""
    decided = majority(answers).set_index("item")
    disputed = decided[decided["votes"] < decided["answers"]]
    table = answers.loc[answers["item"].isin(disputed.index), list(_COLUMNS)].reset_index(drop=True)
    return table.assign(undecided=disputed["undecided"].reindex(table["item"]).to_numpy(dtype=bool))


def measure_agreement(answers: pd.DataFrame) -> Agreement:
    """All measures at once."""
    votes = _Votes(answers)
    several = votes.answers_per_item > 1
    n = int(several.sum())
    shares = _alike(votes)[several]
    observed = float(shares.mean()) if n else None
    return Agreement(observed, n, _fleiss(votes, shares), _alpha(votes), tuple(_pairs(answers)))


class _Votes:
    """How often each label was given to each item, without the many zeros: one entry per label that an item has."""

    def __init__(self, answers: pd.DataFrame) -> None:
        _check(answers)
        item_of_answer, self.items = _codes(answers["item"])
        label_of_answer, self.labels = _codes(answers["label"])
        cells, self.count = np.unique(item_of_answer * max(1, len(self.labels)) + label_of_answer, return_counts=True)
        self.item_of, self.label_of = np.divmod(cells, max(1, len(self.labels)))
        self.answers_per_item = np.bincount(item_of_answer, minlength=len(self.items))


def _alike(votes: _Votes) -> Array:
    """For each item, the share of the pairs of its answers that are alike; NaN where there is no pair."""
    n = votes.answers_per_item
    alike = np.bincount(votes.item_of, weights=votes.count * (votes.count - 1), minlength=len(n))
    return np.asarray(np.divide(alike, n * (n - 1), out=np.full(len(n), np.nan), where=n > 1))


def _fleiss(votes: _Votes, shares: Array) -> Coefficient:
    """Fleiss (1971): chance agreement from the shares of the labels among all answers."""
    several = votes.answers_per_item > 1
    sizes = np.unique(votes.answers_per_item[several])
    items = int(several.sum())
    if not items:
        return Coefficient(None, 0, "No item has two answers.")
    if len(sizes) > 1:
        words = f"Items have between {sizes[0]} and {sizes[-1]} answers; Fleiss' kappa needs the same number for each."
        return Coefficient(None, items, f"{words} Krippendorff's alpha does not.")
    totals = _label_totals(votes)
    if len(totals) == 1:
        return Coefficient(None, items, _one_label(votes))
    chance = float(((totals / totals.sum()) ** 2).sum())
    return Coefficient((float(shares.mean()) - chance) / (1 - chance), items)


def _alpha(votes: _Votes) -> Coefficient:
    """Krippendorff's alpha for names: 1 − observed / expected disagreement, of all pairs of answers within items."""
    n = votes.answers_per_item
    items = int((n > 1).sum())
    if not items:
        return Coefficient(None, 0, "No item has two answers.")
    totals = _label_totals(votes)
    if len(totals) == 1:
        return Coefficient(None, items, _one_label(votes))
    answers = int(totals.sum())
    inside = n[votes.item_of] > 1
    count, size = votes.count[inside], n[votes.item_of[inside]]
    observed = float((count * (size - count) / (size - 1)).sum()) / answers
    expected = (answers**2 - int((totals**2).sum())) / (answers * (answers - 1))
    return Coefficient(1 - observed / expected, items)


def _label_totals(votes: _Votes) -> Ints:
    """How often each label was given to items with several answers, where it was given at all."""
    inside = votes.answers_per_item[votes.item_of] > 1
    totals = np.zeros(len(votes.labels), dtype=np.int64)
    np.add.at(totals, votes.label_of[inside], votes.count[inside])
    return totals[totals > 0]


def _one_label(votes: _Votes) -> str:
    inside = votes.answers_per_item[votes.item_of] > 1
    label = votes.labels[int(votes.label_of[inside][0])]
    return f"Every answer is {label!r}, so chance alone would agree as often."


def _pairs(answers: pd.DataFrame) -> Iterator[PairAgreement]:
    item, _ = _codes(answers["item"])
    label, labels = _codes(answers["label"])
    person, people = _codes(answers["annotator"])
    by_person = [np.flatnonzero(person == code) for code in range(len(people))]
    for first, second in combinations(range(len(people)), 2):
        a, b = by_person[first], by_person[second]
        _, places_a, places_b = np.intersect1d(item[a], item[b], assume_unique=True, return_indices=True)
        said_a, said_b = label[a[places_a]], label[b[places_b]]
        agreement = float((said_a == said_b).mean()) if len(said_a) else None
        yield PairAgreement(people[first], people[second], agreement, _cohen(said_a, said_b, labels))


def _cohen(first: Ints, second: Ints, labels: list[Any]) -> Coefficient:
    """Cohen (1960): chance agreement from how often each of the two gives each label."""
    n = len(first)
    if not n:
        return Coefficient(None, 0, "They have no item in common.")
    if first.min() == first.max() == second.min() == second.max():
        return Coefficient(None, n, f"Both only say {labels[first[0]]!r}, so chance alone would agree as often.")
    of_first, of_second = (np.bincount(said, minlength=len(labels)) for said in (first, second))
    chance = float(of_first @ of_second) / n**2
    return Coefficient((float((first == second).mean()) - chance) / (1 - chance), n)


def _codes(column: pd.Series[Any]) -> tuple[Ints, list[Any]]:
    """Codes in order of appearance, and what they stand for, as plain objects."""
    codes, values = pd.factorize(column)
    return np.asarray(codes, dtype=np.int64), values.tolist()


def _check(answers: pd.DataFrame) -> None:
    missing = [name for name in _COLUMNS if name not in answers]
    if missing:
        raise DataError(
            f"Answers need the columns {', '.join(_COLUMNS)}; the table has {', '.join(map(str, answers))}."
        )
    if answers[list(_COLUMNS)].isna().to_numpy().any():
        raise DataError("Answers must name an item, an annotator and a label in every row; some are missing.")
    repeated = answers.duplicated(["item", "annotator"])
    if repeated.any():
        row = answers[repeated].iloc[0]
        raise DataError(
            f"An annotator answers once for an item; {row['annotator']!r} has several answers for {row['item']!r}. "
            "Keep the last of them."
        )
