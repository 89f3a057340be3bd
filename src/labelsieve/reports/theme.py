"""Colours and the way from a figure to an image inside the page."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Theme:
    """Colours of one scheme, from the colour-blind safe palette of Okabe and Ito."""

    ink: str
    faint: str
    machine: str
    human: str
    wrong: str


LIGHT = Theme(ink="#33383f", faint="#d9dce1", machine="#0072b2", human="#e69f00", wrong="#d55e00")
DARK = Theme(ink="#d3d7de", faint="#3d434d", machine="#56b4e9", human="#e69f00", wrong="#ff8c42")


@dataclass(frozen=True)
class Picture:
    """One drawing for both colour schemes, as data URIs, and the words for those who cannot see it."""

    light: str
    dark: str
    alt: str


def picture(draw: Callable[[Theme], Figure], alt: str) -> Picture:
    """Draw once per scheme."""
    return Picture(light=_data_uri(draw, LIGHT), dark=_data_uri(draw, DARK), alt=alt)


def styled(ax: Axes, theme: Theme) -> Axes:
    """Ink and grid in the scheme's colours; no box around the drawing."""
    ax.set_facecolor("none")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(theme.ink)
    ax.tick_params(colors=theme.ink, labelsize=9, length=3)
    ax.xaxis.label.set_color(theme.ink)
    ax.yaxis.label.set_color(theme.ink)
    ax.set_axisbelow(True)
    return ax


def _data_uri(draw: Callable[[Theme], Figure], theme: Theme) -> str:
    # Text stays text (fonttype "none"), so the reader's fonts draw class names in any script; the fonts here need
    # not have those letters, which is all the silenced warning says. The salt makes equal drawings equal bytes.
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "labelsieve",
        "font.family": "sans-serif",
        "font.sans-serif": "DejaVu Sans",
        "font.size": 9,
    }
    buffer = io.BytesIO()
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        draw(theme).savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
