"""How all figures look: colours that colour-blind readers can tell apart, the same for a method everywhere."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.paper.configuration import ANCHORED, TOLERANCE

COLOURS = {  # Okabe and Ito 2008
    "softmax": "#000000",
    "temperature": "#E69F00",
    "dirichlet": "#56B4E9",
    "scaling-binning": "#009E73",
    "top-label-binning": "#CC79A7",
    "colander": "#D55E00",
    ANCHORED: "#0072B2",
}
MARKERS = {
    "softmax": "o",
    "temperature": "^",
    "dirichlet": "v",
    "scaling-binning": "s",
    "top-label-binning": "D",
    "colander": "*",
    ANCHORED: "P",
}
TRAINING_MARKERS = {"vanilla": "o", "squentropy": "s", "crl": "^", "fmfp": "D"}
GREY = "#888888"
LIMIT = "#B00020"
"""For the tolerance, and what is beyond it."""
WIDTH = 9.0
"""Inches; with 150 dots per inch, text stays readable at 900 pixels."""
_DPI = 150


def figure(height: float) -> Figure:
    return Figure(figsize=(WIDTH, height), layout="constrained")


def tidy(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9)


def mark_tolerance(axes: Axes, vertical: bool = False) -> None:
    """The dashed line at ε, in percent."""
    draw = axes.axvline if vertical else axes.axhline
    draw(100 * TOLERANCE, color=LIMIT, linestyle="--", linewidth=1.2, zorder=1)


def save(drawn: Figure, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=_DPI, metadata={"Software": None})
    return path
