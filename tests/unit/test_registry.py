from __future__ import annotations

import pytest

from labelsieve import registry
from labelsieve.errors import UnknownMethodError


@pytest.mark.parametrize(("group", "name"), [(g, n) for g, ns in registry.BUILT_IN.items() for n in ns])
def test_every_name_creates_something(group, name):
    assert registry.create(group, name).get_params() is not None


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownMethodError, match=r"query must be one of 'random', 'margin'.*got 'magic'"):
        registry.create("query", "magic")


@pytest.mark.parametrize("group", registry.BUILT_IN)
def test_auto_is_among_the_choices_where_it_may_be_given(group):
    assert registry.choices(group).count("auto") == (group in ("classifier", "training", "confidence"))
