from __future__ import annotations

from labelsieve.seeding import generator, integer_seed


def test_same_purpose_same_draw_and_all_else_differs():
    keys = [(0, "query", 1), (0, "query", 2), (0, "split", 1), (1, "query", 1)]
    draws = {key: generator(*key).integers(2**62) for key in keys}
    assert len(set(draws.values())) == len(keys)
    assert generator(0, "query", 1).integers(2**62) == draws[0, "query", 1]


def test_integer_seed_fits_scikit_learn():
    assert 0 <= integer_seed(3, "classifier", 9) < 2**32
