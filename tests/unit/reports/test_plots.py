"""The drawings of a report."""

from __future__ import annotations

import numpy as np
import pytest

from labelsieve.reports.plots import score_figure
from labelsieve.reports.score_axis import score_axis
from labelsieve.reports.theme import LIGHT


@pytest.mark.parametrize("highest", [0.97, 0.9991, 0.99991, 0.999991])
def test_no_number_on_the_score_axis_is_cut_off(highest: float) -> None:
    scores = np.linspace(0.34, highest, 50)
    figure = score_figure(scores, scores[:3], 0.5, score_axis(scores), LIGHT)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    for text in ax.get_xticklabels():
        extent = text.get_window_extent()
        assert extent.x0 >= 0, text
        assert extent.x1 <= figure.bbox.x1, text
