"""Neighbours that are remembered are the neighbours."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors

from labelsieve.classifiers import SklearnClassifier, known_neighbours
from labelsieve.classifiers.known_neighbours import Neighbourhoods
from labelsieve.classifiers.training.semi_supervised import SemiSupervised

K = 5


def points(n=300, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


def check(known, graph, x, but=()):
    """The neighbours of the graph's points and of all others are those a search without memory finds."""
    among, numbers = known.with_graph(x[graph], K)
    searched = NearestNeighbors(n_neighbors=K).fit(x[graph])
    of_graph, of_all = among.among(numbers, x[graph], K, own=True), among.among(numbers, x, K)
    for (distances, places), (true_distances, true_places) in zip(
        (of_graph, of_all), (searched.kneighbors(), searched.kneighbors(x)), strict=True
    ):
        rows = np.setdiff1d(np.arange(len(places)), but)
        np.testing.assert_allclose(distances[rows], true_distances[rows], atol=1e-5)
        np.testing.assert_array_equal(places[rows], true_places[rows])
    return among


@pytest.mark.parametrize("remembered", [0, 100, 10**6])
def test_graphs_that_grow_shrink_and_change(monkeypatch, remembered):
    monkeypatch.setattr(known_neighbours, "MOST_REMEMBERED", remembered)
    x, known, order = points(), Neighbourhoods(), np.random.default_rng(1).permutation(300)
    graphs = [order[:150], order[:200], order[60:200], order[::-1][:220], order[:6], order]
    first, *later = [check(known, graph, x) for graph in graphs]
    assert [among is first for among in later[:2]] == [True, True]


def test_what_is_known_is_not_looked_for_again(monkeypatch):
    x, known, asked = points(), Neighbourhoods(), []

    def counted(rows, among, k, centre, search=known_neighbours.nearest):
        asked.append((len(rows), len(among)))
        return search(rows, among, k, centre)

    monkeypatch.setattr(known_neighbours, "nearest", counted)
    check(known, np.arange(200), x)
    assert asked == [(200, 200), (100, 200)]
    asked.clear()
    check(known, np.arange(220), x)
    assert asked == [(220, 20), (80, 20)]
    asked.clear()
    check(known, np.delete(np.arange(220), [3, 50, 200]), x)
    assert asked == []


def test_an_older_graph_stays_what_it_was():
    x, known = points(), Neighbourhoods()
    among, numbers = known.with_graph(x[:200], K)
    before = among.among(numbers, x, K)
    known.with_graph(x[:280], K)
    known.with_graph(points(seed=2), K)
    for one, other in zip(before, among.among(numbers, x, K), strict=True):
        np.testing.assert_array_equal(one, other)


def test_twins_are_points_of_their_own():
    x = np.repeat(points(20), 3, axis=0)
    known, numbers = Neighbourhoods().with_graph(x, K)
    distances, places = known.among(numbers, x, 2, own=True)
    assert (distances == 0).all()
    assert (places // 3 == np.arange(60)[:, None] // 3).all()
    assert (places != np.arange(60)[:, None]).all()


@pytest.mark.parametrize("times", [1, 3, 15])
def test_what_was_asked_before_makes_no_difference(times):
    """Not in the last digit, nor where there are more twins than neighbours are kept: a continued run is the same."""
    x = np.repeat(points(300 // times), times, axis=0)
    order = np.random.default_rng(3).permutation(len(x))
    graph, experienced = order[:200], Neighbourhoods()
    for before in (order[50:250], order[:180], order):
        among, numbers = experienced.with_graph(x[before], K)
        among.among(numbers, x, K)
    answers = []
    for known in (experienced, Neighbourhoods()):
        among, numbers = known.with_graph(x[graph], K)
        answers.append([*among.among(numbers, x[graph], K, own=True), *among.among(numbers, x[::-1], K)])
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_any_layout(layout):
    check(Neighbourhoods(), np.arange(50), np.array(points(60), order=layout))


@pytest.mark.parametrize("shift", [np.array([1e9, 0, 0, 0]), np.zeros(4)])
def test_points_far_from_the_origin_or_from_each_other_keep_their_digits(shift):
    x = points(100)
    x[7] *= 1e7
    check(Neighbourhoods(), np.arange(100), x + shift, but=[7])


def test_bytes_do_not_overflow():
    x = np.random.default_rng(0).choice(256, size=(60, 4)).astype(np.uint8)
    among, numbers = Neighbourhoods().with_graph(x, K)
    distances, _ = among.among(numbers, x, K, own=True)
    expected, _ = NearestNeighbors(n_neighbors=K).fit(x.astype(float)).kneighbors()
    np.testing.assert_allclose(distances, expected, rtol=1e-5)


def test_copies_of_a_classifier_know_what_it_has_found():
    y = np.arange(80) % 2
    x = points(80) + 100 * y[:, None]  # two clouds, where labels spread
    unfitted = SklearnClassifier(LogisticRegression(), training=SemiSupervised(neighbours=K))
    first, second = (clone(unfitted).fit(x[:n], y[:n], 2, seed=0, unlabelled=x[n:]) for n in (20, 30))
    alone = SklearnClassifier(LogisticRegression(), training=SemiSupervised(neighbours=K))
    alone.fit(x[:30], y[:30], 2, seed=0, unlabelled=x[30:])
    assert first.spreading_._known is second.spreading_._known
    np.testing.assert_array_equal(second.outputs(x).logits, alone.outputs(x).logits)
    other = unfitted.with_training(SemiSupervised()).fit(x[:30], y[:30], 2, seed=0, unlabelled=x[30:])
    assert other.spreading_._known is not second.spreading_._known


def test_one_that_arrives_in_memory_nobody_may_write_to():
    """As on a cluster, whose workers read arrays where they lie."""
    x, known, buffers = points(), Neighbourhoods(), []
    check(known, np.arange(100), x[:200])
    sent = pickle.dumps(known, protocol=5, buffer_callback=buffers.append)
    arrived = pickle.loads(sent, buffers=[bytes(buffer.raw()) for buffer in buffers])
    check(arrived, np.arange(100), x)


def test_nobody_to_find_neighbours_for():
    known, numbers = Neighbourhoods().with_graph(points(20), K)
    distances, places = known.among(numbers, points(0), K)
    assert distances.shape == places.shape == (0, K)


@pytest.mark.parametrize("n", [2, 3])
def test_as_few_labels_as_there_can_be(n):
    x, y = points(60), np.arange(60) % 2
    fitted = SklearnClassifier(LogisticRegression(), training=SemiSupervised())
    fitted.fit(x[:n], y[:n], 2, seed=0, unlabelled=x[n:n])
    assert fitted.outputs(x).logits.shape == (60, 2)
