from __future__ import annotations

import numpy as np
import pytest

from labelsieve.data.classes import ClassCodes, declared_classes
from labelsieve.errors import ConfigurationError, LabelError


def test_declared():
    assert declared_classes(None) is None
    assert declared_classes(3) == (0, 1, 2)
    assert declared_classes(np.array(["b", "a"])) == ("b", "a")


@pytest.mark.parametrize("classes", [1, 0, ["a"], ["a", "a"], []])
def test_refuses(classes):
    with pytest.raises(ConfigurationError, match="classes must"):
        declared_classes(classes)


def test_open_list_grows_in_order_of_appearance():
    codes = ClassCodes((), is_open=True)
    assert codes.codes(["dog", "cat", "dog", np.str_("eel")]).tolist() == [0, 1, 0, 2]
    assert codes.names == ["dog", "cat", "eel"]


def test_closed_list_names_the_known_classes():
    with pytest.raises(LabelError, match=r"'a', 'b'.*got 'c'.*classes="):
        ClassCodes(("a", "b"), is_open=False).code("c")


@pytest.mark.parametrize("label", [None, float("nan"), 1.5, ["a"]])
def test_not_a_label(label):
    with pytest.raises(LabelError, match="string or an integer"):
        ClassCodes((0, 1), is_open=True).code(label)


def test_whole_floats_and_numpy_integers_are_integers():
    assert ClassCodes((0, 1), is_open=False).codes([1.0, np.int8(1), np.float32(0)]).tolist() == [1, 1, 0]
