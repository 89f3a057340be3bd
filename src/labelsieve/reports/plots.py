"""The drawings of a report: small ones, so that the page can put them side by side or below each other.

Figures are made without pyplot, which keeps every figure it makes and is not safe in threads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from labelsieve.reports.score_axis import ScoreAxis
from labelsieve.reports.summary import ClassSummary, RoundSummary, Wrong
from labelsieve.reports.theme import Theme, styled
from labelsieve.reports.wording import display_name, percent, shortened
from labelsieve.types import Floats

_BINS = 24
_SHARE_OF_STRIP = 0.3
"""Height of the strip of wrong predictions below the bars, as a share of the bars'."""


def coverage_figure(rounds: Sequence[RoundSummary], theme: Theme) -> Figure:
    """Share of the pool labelled by machine, after each round."""
    figure = Figure(figsize=(4.6, 2.8))
    ax = styled(figure.add_axes((0.155, 0.165, 0.83, 0.815)), theme)
    numbers = [row.report.number for row in rounds]
    coverage = [row.coverage_so_far for row in rounds]
    ax.fill_between(numbers, coverage, color=theme.machine, alpha=0.15, linewidth=0)
    ax.plot(numbers, coverage, color=theme.machine, linewidth=2, marker="o", markersize=5)
    if len(rounds) <= 8:
        for x, y in zip(numbers, coverage, strict=True):
            ax.annotate(percent(y), (x, y), (0, 7), textcoords="offset points", ha="center", color=theme.ink)
    ax.set(ylim=(0, 1.08), xlabel="round", ylabel="labelled by machine")
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    ax.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    _round_axis(ax, numbers, theme)
    return figure


def error_figure(rounds: Sequence[RoundSummary], tolerance: float, theme: Theme) -> Figure:
    """Share of wrong labels: of each round alone, and of all rounds so far; against the truth where it is known."""
    figure = Figure(figsize=(4.6, 2.8))
    ax = styled(figure.add_axes((0.155, 0.165, 0.83, 0.815)), theme)
    numbers = [row.report.number for row in rounds]
    alone = _shares([row.held_out if row.truth is None else row.truth for row in rounds])
    so_far = _shares([row.held_out_so_far if row.truth_so_far is None else row.truth_so_far for row in rounds])
    known = rounds[0].truth is not None
    ax.axhline(tolerance, color=theme.ink, linestyle="--", linewidth=1.2, label=f"tolerance {percent(tolerance)}")
    ax.plot(numbers, so_far, color=theme.wrong, linewidth=2, marker="o", markersize=5, label="all rounds so far")
    ax.plot(
        numbers,
        alone,
        linestyle="none",
        marker="D",
        markersize=6,
        markerfacecolor="none",
        markeredgecolor=theme.wrong,
        label="this round alone",
    )
    top = float(np.nanmax([tolerance, *so_far, *alone]))
    ax.set(ylim=(0, top * 1.45), xlabel="round")
    ax.set_ylabel("wrong machine labels" if known else "wrong held-out points")
    ax.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    if np.isnan(so_far).all():
        ax.text(0.5, 0.3, "no machine labels, so no error", transform=ax.transAxes, ha="center", color=theme.ink)
    ax.legend(loc="upper center", ncols=3, frameon=False, labelcolor=theme.ink, fontsize=8, columnspacing=1.2)
    _round_axis(ax, numbers, theme)
    return figure


def score_figure(right: Floats, wrong: Floats, threshold: float, axis: ScoreAxis, theme: Theme) -> Figure:
    """Held-out predictions of one class by score: right ones as bars, each wrong one as a stroke below them.

    Wrong ones are drawn one by one since a single one above the threshold matters, and as a bar among hundreds
    of right ones it could not be seen.
    """
    figure = Figure(figsize=(3.1, 1.9))
    ax = styled(figure.add_axes((0.11, 0.235, 0.8, 0.745)), theme)  # room on the right for half of "0.99999"
    place = float(axis.place(np.array([threshold]))[0])
    counts, edges = np.histogram(axis.place(right), bins=_edges(axis, place))
    top = max(1.0, float(counts.max()))
    strip = _SHARE_OF_STRIP * top
    ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=theme.machine, edgecolor="none")
    # One path for all strokes keeps the image small however many there are.
    places = np.unique(axis.place(wrong).round(3))
    x = np.repeat(places, 3)
    y = np.tile([-0.25 * strip, -0.95 * strip, np.nan], len(places))
    ax.plot(x, y, color=theme.wrong, linewidth=1.4, solid_capstyle="butt", zorder=4)
    ax.axhline(0, color=theme.ink, linewidth=0.8)
    if np.isfinite(threshold):
        ax.axvspan(place, axis.high, color=theme.machine, alpha=0.14, linewidth=0)
        ax.axvline(place, color=theme.ink, linewidth=1.4)
    ax.set(xlim=(axis.low, axis.high), ylim=(-1.1 * strip, 1.08 * top), xlabel="confidence score")
    ax.set_xticks(*axis.ticks())
    ax.set_yticks([tick for tick in MaxNLocator(3, integer=True).tick_values(0, top) if 0 <= tick <= top])
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure


def class_figure(classes: Sequence[ClassSummary], theme: Theme) -> Figure:
    """Labels per class: by machine, and by humans on top of them."""
    figure = Figure(figsize=(6.4, 0.9 + 0.25 * len(classes)), layout="constrained")
    ax = styled(figure.add_subplot(), theme)
    rows = np.arange(len(classes))
    machine, human = np.array([row.machine for row in classes]), np.array([row.human for row in classes])
    ax.barh(rows, machine, 0.72, color=theme.machine, label="by machine")
    ax.barh(rows, human, 0.72, left=machine, color=theme.human, label="by humans")
    # Names may hold dollar signs, which matplotlib would otherwise read as formulas.
    names = [shortened(display_name(row.name), 24) for row in classes]
    ax.set_yticks(rows, names, parse_math=False)
    ax.set(ylim=(len(classes) - 0.4, -0.6), xlabel="labels")
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.grid(axis="x", color=theme.faint, linewidth=0.8)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper left", ncols=2, frameon=False, labelcolor=theme.ink)
    return figure


def _edges(axis: ScoreAxis, threshold: float) -> Floats:
    """Bins of which one begins at the threshold, so that no bar lies on both sides of it."""
    width = (axis.high - axis.low) / _BINS
    below, above = np.ceil((threshold - axis.low) / width), np.ceil((axis.high - threshold) / width)
    return np.asarray(threshold + width * np.arange(-below, above + 1))


def _shares(counts: Sequence[Wrong]) -> list[float]:
    """NaN, which is not drawn, where nothing was labelled."""
    return [np.nan if count.share is None else count.share for count in counts]


def _round_axis(ax: Axes, numbers: Sequence[int], theme: Theme) -> None:
    ax.set_xlim(numbers[0] - 0.5, numbers[-1] + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.grid(axis="y", color=theme.faint, linewidth=0.8)
