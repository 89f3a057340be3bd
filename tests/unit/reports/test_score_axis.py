"""Scores of any kind find a place on the axis."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.reports.score_axis import score_axis


def test_probabilities_are_stretched_towards_one() -> None:
    scores = np.array([0.5, 0.99, 0.999, 1.0])
    axis = score_axis(scores)
    places = axis.place(scores)
    assert axis.stretched
    assert (np.diff(places) > 0).all()
    assert places[2] - places[1] > 0.1 * (places[-1] - places[0])


@pytest.mark.parametrize(
    "scores", [[-3.0, 0.2, 40.0], [0.0, 0.0, 0.0], [1.0], [-np.inf, 2.0, 5.0, np.inf], [np.inf], [0.4999, 0.5001]]
)
def test_every_score_lies_on_the_axis(scores: list[float]) -> None:
    axis = score_axis(np.array(scores))
    places = axis.place(np.array(scores))
    assert axis.low < axis.high
    assert np.isfinite(places).all()
    assert ((places >= axis.low) & (places <= axis.high)).all()
    assert (np.diff(places) >= 0).all()
    ticks, texts = axis.ticks()
    assert len(ticks) == len(texts)
    assert all(axis.low <= tick <= axis.high for tick in ticks)


def test_ticks_keep_their_distance() -> None:
    axis = score_axis(np.linspace(0.01, 0.99999, 50))
    ticks, _ = axis.ticks(6)
    assert len(ticks) >= 3
    assert np.diff(sorted(ticks)).min() >= (axis.high - axis.low) / 6
