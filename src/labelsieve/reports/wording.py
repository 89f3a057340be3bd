"""Numbers and names as people read them, never rounded into something untrue."""

from __future__ import annotations

from labelsieve.types import Label

_JOINERS = "\u200c\u200d"
"""Invisible, but part of how some scripts and emoji are written."""


def percent(share: float) -> str:
    """Three significant digits. 0 % and 100 % are kept for shares that are exactly that. The space does not break."""
    if share <= 0 or share >= 1:
        text = f"{100 * share:g}"
    elif share < 1e-5:
        text = "< 0.001"
    else:
        text = f"{100 * share:.3g}"
        text = "> 99.9" if text == "100" else text
    return f"{text}\u00a0%"


def plural(n: int, noun: str) -> str:
    """A count with its noun: 1 point, 2 points, 3 classes."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}{'es' if noun.endswith('s') else 's'}"


def score_text(score: float) -> str:
    """Three digits, and the distance from 1 where those would hide it."""
    if 0.999 < score < 1:
        return f"1 − {1 - score:.2g}"
    return f"{score:.3g}"


def display_name(label: Label) -> str:
    """A class name that can be shown: control characters, which break SVG and hide text, become visible."""
    shown = "".join(char if char.isprintable() or char in _JOINERS else "\ufffd" for char in str(label))
    return shown if shown.strip() else repr(str(label))


def shortened(text: str, length: int) -> str:
    """At most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1] + "…"
