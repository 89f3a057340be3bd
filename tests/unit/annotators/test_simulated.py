from __future__ import annotations

import numpy as np
import pytest

import labelsieve as ls
from labelsieve.annotators import as_annotator
from labelsieve.errors import ConfigurationError, DataError


def test_answers_by_row_by_mapping_and_by_id():
    assert ls.SimulatedAnnotator(np.array([4, 5, 6])).label(np.array([2, 0])) == [6, 4]
    assert ls.SimulatedAnnotator({"x": "a", "y": "b"}).label(np.array(["y"])) == ["b"]
    assert ls.SimulatedAnnotator(["a", "b"], ids=[10, 20]).label(np.array([20, 10])) == ["b", "a"]


def test_remembers_what_it_was_asked():
    annotator = ls.SimulatedAnnotator([0, 1, 2])
    annotator.label(np.array([1]))
    annotator.label(np.array([2, 0]))
    assert annotator.asked == [1, 2, 0]


def test_says_which_id_it_does_not_know():
    with pytest.raises(DataError, match="labels for 2 ids, but not for 7 and 0 others"):
        ls.SimulatedAnnotator([0, 1]).label(np.array([0, 7]))


def test_functions_are_annotators_and_numbers_are_not():
    assert as_annotator(lambda ids: ["a"] * len(ids)).label(np.array([1, 2])) == ["a", "a"]
    with pytest.raises(ConfigurationError, match=r"label\(ids\).*got int"):
        as_annotator(3)
