"""The page: what the template needs, put together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jinja2
import numpy as np

from labelsieve.engine.run import Run
from labelsieve.reports import belief
from labelsieve.reports.plots import class_figure, coverage_figure, error_figure, score_figure
from labelsieve.reports.record import settings, versions
from labelsieve.reports.score_axis import score_axis
from labelsieve.reports.summary import RoundSummary, Summary, Wrong, machine_labels_by_class
from labelsieve.reports.theme import Picture, picture
from labelsieve.reports.wording import display_name, percent, plural, score_text, shortened

_MOST_PANELS = 12
_MOST_BARS = 30
_MOST_OPEN_ROWS = 30
"""A class table longer than this starts closed."""


@dataclass(frozen=True)
class Panel:
    """The scores of one class."""

    name: str
    caption: str
    picture: Picture


def page_html(run: Run, summary: Summary, title: str) -> str:
    """The whole page as one text."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("labelsieve.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "plural": plural, "name": display_name, "fraction": belief.fraction}
    error_label, error_figure_text, error_note = belief.headline(summary)
    promise, reason = belief.promise(run)
    busiest = summary.busiest_round
    panels, stretched = _panels(run, busiest) if busiest else ([], False)
    bars = _bars(summary)
    return environment.get_template("report.html.j2").render(
        title=title,
        summary=summary,
        stop_reason=run.stop_reason,
        error_label=error_label,
        error_text=error_figure_text,
        error_note=error_note,
        promise=promise,
        promise_reason=reason,
        grounds=belief.grounds(summary),
        weakest=None if run.settings["certified"] else belief.weakest(summary),
        coverage_picture=_coverage_picture(summary) if summary.rounds else None,
        error_picture=_error_picture(summary) if summary.rounds else None,
        panels=panels,
        panel_classes=_classes_predicted(busiest) if busiest else 0,
        stretched=stretched,
        busiest=busiest,
        class_picture=bars,
        shown_bars=min(_MOST_BARS, len(summary.classes)),
        classes_open=len(summary.classes) <= _MOST_OPEN_ROWS,
        expected_by_round=_expected_by_round(summary),
        any_calibration=any(row.report.calibration_points for row in summary.rounds),
        settings=settings(run),
        versions=versions(),
    )


def _coverage_picture(summary: Summary) -> Picture:
    steps = _steps([(row.report.number, row.coverage_so_far) for row in summary.rounds])
    alt = f"Line chart of the share of the pool labelled by machine after each round: {steps}."
    return picture(partial(coverage_figure, summary.rounds), alt)


def _error_picture(summary: Summary) -> Picture:
    shares = [
        (row.report.number, (row.held_out_so_far if row.truth_so_far is None else row.truth_so_far).share)
        for row in summary.rounds
    ]
    basis = "held-out points at or above the thresholds" if summary.truth is None else "machine labels"
    alt = (
        f"Chart of the share of wrong {basis}, all rounds so far: {_steps(shares)}. "
        f"The tolerance is {percent(summary.tolerance)}."
    )
    return picture(partial(error_figure, summary.rounds, summary.tolerance), alt)


def _expected_by_round(summary: Summary) -> str:
    """What a run that may stop early expected after each round."""
    expected = ((row.report.number, row.report.expected_machine_labels) for row in summary.rounds)
    return ", ".join(f"{labels:,.0f} in round {number}" for number, labels in expected if labels is not None)


def _steps(values: list[tuple[int, float | None]]) -> str:
    """Round by round in words; a long run by its ends."""
    if len(values) > 12:
        values = [values[0], values[len(values) // 2], values[-1]]
    return ", ".join(f"round {number} {'none' if share is None else percent(share)}" for number, share in values)


def _panels(run: Run, row: RoundSummary) -> tuple[list[Panel], bool]:
    """Score pictures of the classes the round labelled most, in class order; whether their axis is stretched."""
    held_out, thresholds = row.report.held_out, row.report.thresholds
    machine = machine_labels_by_class(run, row.report.number)
    points = np.bincount(held_out.predicted, minlength=len(thresholds))
    codes = sorted(
        np.flatnonzero(points).tolist(), key=lambda code: (-machine[run.classes[code]], -points[code], code)
    )[:_MOST_PANELS]
    axis = score_axis(held_out.scores)
    panels = []
    for code in sorted(codes):
        own = held_out.predicted == code
        right, wrong = held_out.scores[own & held_out.correct], held_out.scores[own & ~held_out.correct]
        threshold = float(thresholds[code])
        above = Wrong(int((wrong >= threshold).sum()), int((held_out.scores[own] >= threshold).sum()))
        caption = (
            f"threshold {score_text(threshold)}; at or above it {belief.fraction(above)} wrong, below it "
            f"{len(wrong) - above.wrong:,} of {int(own.sum()) - above.of:,}"
            if np.isfinite(threshold)
            else f"no threshold passed; {len(wrong):,} of {int(own.sum()):,} wrong"
        )
        name = display_name(run.classes[code])
        drawn = picture(
            partial(score_figure, right, wrong, threshold, axis),
            f"Scores of held-out points predicted as {name}: {caption}.",
        )
        panels.append(Panel(shortened(name, 40), caption, drawn))
    return panels, axis.stretched


def _classes_predicted(row: RoundSummary) -> int:
    return len(np.unique(row.report.held_out.predicted))


def _bars(summary: Summary) -> Picture:
    ordered = sorted(summary.classes, key=lambda row: (-row.machine - row.human, row.code))[:_MOST_BARS]
    chosen = sorted(ordered, key=lambda row: row.code)
    alt = (
        f"Bars of labels per class for {plural(len(chosen), 'class')}, by machine and by humans; "
        "the table below has the numbers."
    )
    return picture(partial(class_figure, chosen), alt)
