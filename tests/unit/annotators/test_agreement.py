from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from labelsieve.annotators.agreement import Coefficient, disagreements, majority, measure_agreement
from labelsieve.errors import DataError

FLEISS_1971_STYLE = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
"""The textbook example: 10 items, 14 answers each, 5 labels; kappa 0.210 (statsmodels: 0.20993070442195522)."""

KRIPPENDORFF = {
    "A": "*****34121133*3",
    "B": "1*213343*******",
    "C": "**21344*21133*4",
}
"""The textbook example with gaps; nominal alpha 0.691."""


def table(*answers: tuple[object, object, object]) -> pd.DataFrame:
    return pd.DataFrame(answers, columns=["item", "annotator", "label"])


def from_counts(counts: list[list[int]]) -> pd.DataFrame:
    rows = []
    for item, votes in enumerate(counts):
        labels = [label for label, count in enumerate(votes) for _ in range(count)]
        rows += [(item, f"p{number}", label) for number, label in enumerate(labels)]
    return table(*rows)


def from_strings(said: dict[str, str]) -> pd.DataFrame:
    return table(*((i, who, label) for who, labels in said.items() for i, label in enumerate(labels) if label != "*"))


@st.composite
def answer_tables(draw: st.DrawFn) -> pd.DataFrame:
    """Some people, some items, some of which each has answered."""
    n_people, n_items, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 8)), draw(st.integers(1, 3))
    cells = [(item, f"p{person}") for item in range(n_items) for person in range(n_people)]
    labels = draw(st.lists(st.integers(-1, n_labels - 1), min_size=len(cells), max_size=len(cells)))
    return table(*((*cell, "abc"[label]) for cell, label in zip(cells, labels, strict=True) if label >= 0))


class TestMajority:
    def test_most_votes_win_and_ties_are_undecided(self):
        answers = table(
            ("x", "ana", "cat"), ("x", "bob", "dog"), ("y", "ana", "dog"), ("x", "eve", "cat"), ("y", "bob", "cat"),
            ("z", "ana", "eel"),
        )  # fmt: skip
        assert majority(answers).to_dict("records") == [
            {"item": "x", "label": "cat", "votes": 2, "answers": 3, "undecided": False},
            {"item": "y", "label": None, "votes": 1, "answers": 2, "undecided": True},
            {"item": "z", "label": "eel", "votes": 1, "answers": 1, "undecided": False},
        ]

    def test_integers_stay_integers(self):
        (row,) = majority(table((7, "ana", 3), (7, "bob", 3))).to_dict("records")
        assert (row["item"], row["label"], type(row["label"])) == (7, 3, int)

    def test_no_answers(self):
        assert len(majority(table())) == len(disagreements(table())) == 0

    @settings(deadline=None)
    @given(answer_tables())
    def test_as_counted_by_hand(self, answers):
        for row in majority(answers).to_dict("records"):
            counts = answers[answers["item"] == row["item"]]["label"].value_counts()
            leaders = counts[counts == counts.max()].index.tolist()
            assert row["label"] == (leaders[0] if len(leaders) == 1 else None)
            assert (row["votes"], row["answers"], row["undecided"]) == (counts.max(), counts.sum(), len(leaders) > 1)

    def test_disagreements_are_listed_with_all_their_answers(self):
        answers = table(
            ("x", "ana", "cat"), ("y", "ana", "cat"), ("z", "ana", "cat"), ("x", "bob", "cat"), ("y", "bob", "dog"),
            ("z", "bob", "dog"), ("z", "eve", "dog"),
        )  # fmt: skip
        assert disagreements(answers).to_records(index=False).tolist() == [
            ("y", "ana", "cat", True),
            ("z", "ana", "cat", False),
            ("y", "bob", "dog", True),
            ("z", "bob", "dog", False),
            ("z", "eve", "dog", False),
        ]


class TestMeasures:
    def test_fleiss(self):
        measured = measure_agreement(from_counts(FLEISS_1971_STYLE))
        counts = np.array(FLEISS_1971_STYLE)
        observed = ((counts**2).sum(axis=1) - 14).mean() / (14 * 13)
        chance = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
        assert measured.agreement == pytest.approx(observed)
        assert measured.fleiss == Coefficient(pytest.approx((observed - chance) / (1 - chance)), 10)
        assert measured.fleiss.value == pytest.approx(0.20993070442195522)

    def test_alpha_with_gaps(self):
        measured = measure_agreement(from_strings(KRIPPENDORFF))
        assert measured.alpha == Coefficient(pytest.approx(0.691, abs=5e-4), 12)
        assert measured.fleiss.value is None
        assert "between 2 and 3 answers" in measured.fleiss.words

    def test_cohen(self):
        """Two readers of 50 applications: both yes 20, both no 15, 5 and 10 mixed; kappa 0.4."""
        said = {"A": "y" * 20 + "y" * 5 + "n" * 10 + "n" * 15, "B": "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15}
        (pair,) = measure_agreement(from_strings(said)).pairs
        assert (pair.first, pair.second, pair.agreement) == ("A", "B", 0.7)
        assert pair.kappa == Coefficient(pytest.approx(0.4), 50)

    def test_what_is_told_depends_on_how_many_share_items(self):
        two = {"A": "yyyyn**", "B": "yynyn**", "C": "*****yn"}  # the third shares none
        measured = measure_agreement(from_strings(two))
        assert list(measured.coefficients) == ["Cohen's kappa", "Krippendorff's alpha"]
        chance = (4 * 3 + 1 * 2) / 25
        expected = f"80% of pairs of answers agree, on 5 items; Cohen's kappa {(0.8 - chance) / (1 - chance):.2f}, "
        assert measured.in_words().startswith(expected)
        more = measure_agreement(from_counts(FLEISS_1971_STYLE)).in_words()
        assert "Fleiss' kappa 0.21, Krippendorff's alpha 0.22." in more
        gaps = measure_agreement(from_strings(KRIPPENDORFF)).in_words()
        assert "Fleiss' kappa is undefined, Krippendorff's alpha 0.69. Items have between 2 and 3 answers" in gaps
        assert measure_agreement(from_strings({"A": "yn"})).in_words() == "No item has two answers."

    @settings(deadline=None)
    @given(answer_tables())
    def test_pairs_as_scikit_learn_has_them(self, answers):
        measured = measure_agreement(answers)
        assert {(p.first, p.second) for p in measured.pairs} == set(combinations(answers["annotator"].unique(), 2))
        for pair in measured.pairs:
            said = {name: answers[answers["annotator"] == name].set_index("item")["label"] for name in pair[:2]}
            both = pd.DataFrame(said).dropna()
            assert pair.kappa.items == len(both)
            if len(np.unique(both)) > 1:
                first, second = both[pair.first].tolist(), both[pair.second].tolist()
                assert pair.kappa.value == pytest.approx(cohen_kappa_score(first, second))
                assert pair.agreement == pytest.approx(np.mean([a == b for a, b in zip(first, second, strict=True)]))
            else:
                assert pair.kappa.value is None
                assert pair.kappa.words

    @settings(deadline=None)
    @given(answer_tables())
    def test_alpha_from_its_definition(self, answers):
        """One minus the ratio of how often two answers differ, within items and over all."""
        groups = [group.tolist() for _, group in answers.groupby("item")["label"] if len(group) > 1]
        everything = [label for group in groups for label in group]
        measured = measure_agreement(answers)
        if len(set(everything)) < 2:
            assert measured.alpha.value is None
            return
        n = len(everything)
        within = sum(sum(a != b for a in group for b in group) / (len(group) - 1) for group in groups) / n
        over_all = sum(a != b for a in everything for b in everything) / (n * (n - 1))
        assert measured.alpha == Coefficient(pytest.approx(1 - within / over_all), len(groups))

    @given(answer_tables(), st.randoms())
    def test_order_and_names_do_not_matter(self, answers, random):
        renamed = answers.replace({"label": {"a": "c", "b": "a", "c": "b"}}).sample(
            frac=1, random_state=random.randint(0, 9)
        )
        one, other = measure_agreement(answers), measure_agreement(renamed)
        for name in ("agreement", "items"):
            assert getattr(one, name) == pytest.approx(getattr(other, name))
        assert one.fleiss.value == pytest.approx(other.fleiss.value)
        assert one.alpha.value == pytest.approx(other.alpha.value)

    def test_many(self):
        """Two hundred thousand answers by twenty people."""
        rng = np.random.default_rng(0)
        people = np.array([f"p{number}" for number in range(20)])[(np.arange(66_000)[:, None] + [0, 3, 7]) % 20]
        truth = rng.integers(100, size=(66_000, 1))
        said = np.where(rng.random((66_000, 3)) < 0.8, truth, rng.integers(100, size=(66_000, 3)))
        answers = pd.DataFrame(
            {"item": np.repeat(np.arange(66_000), 3), "annotator": people.ravel(), "label": said.ravel()}
        )
        measured = measure_agreement(answers)
        assert measured.fleiss.value == pytest.approx(0.64, abs=0.01)
        assert measured.alpha.value == pytest.approx(measured.fleiss.value, abs=1e-4)
        assert len(measured.pairs) == 190


class TestUndefined:
    def test_one_annotator(self):
        measured = measure_agreement(table(("x", "ana", "cat"), ("y", "ana", "dog")))
        assert (measured.agreement, measured.items, measured.pairs) == (None, 0, ())
        assert measured.fleiss == measured.alpha == Coefficient(None, 0, "No item has two answers.")

    def test_one_label_only(self):
        measured = measure_agreement(table(("x", "ana", "cat"), ("x", "bob", "cat"), ("y", "ana", "dog")))
        words = "Every answer is 'cat', so chance alone would agree as often."
        assert measured.agreement == 1.0
        assert measured.fleiss == measured.alpha == Coefficient(None, 1, words)
        assert measured.pairs[0].kappa == Coefficient(
            None, 1, "Both only say 'cat', so chance alone would agree as often."
        )

    def test_no_item_in_common(self):
        (pair,) = measure_agreement(table(("x", "ana", "cat"), ("y", "bob", "dog"))).pairs
        assert pair == ("ana", "bob", None, Coefficient(None, 0, "They have no item in common."))

    def test_no_answers(self):
        measured = measure_agreement(table())
        assert (measured.agreement, measured.items, measured.alpha.value, measured.pairs) == (None, 0, None, ())


class TestRefuses:
    def test_two_answers_by_one_person(self):
        with pytest.raises(DataError, match="'ana' has several answers for 'x'"):
            majority(table(("x", "ana", "cat"), ("x", "ana", "dog")))

    def test_gaps(self):
        with pytest.raises(DataError, match="in every row; some are missing"):
            measure_agreement(table(("x", "ana", None)))

    def test_other_columns(self):
        with pytest.raises(DataError, match="item, annotator, label; the table has id, label"):
            majority(pd.DataFrame({"id": ["x"], "label": ["cat"]}))
