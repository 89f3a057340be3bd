"""The whole table at a glance: coverage against error, as printed and as measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.paper.configuration import ANCHORED, CONFIDENCES, DATASETS, RULES, TOLERANCE, TRAININGS, protocol
from experiments.paper.figures.style import COLOURS, GREY, LIMIT, TRAINING_MARKERS, figure, mark_tolerance, save, tidy
from experiments.paper.store import Store
from experiments.paper.table import TITLES, Cell, cells, printed, runs

FILE_NAME = "overview.png"
_ALL_HIGH = 40
"""Where no coverage is lower, in percent, a dataset is drawn from there on."""
_SIZE, _FEWER_SEEDS = 34, 11
"""Of points; the second where some of the seeds label nothing, so that the error is over the others."""
Points = Mapping[tuple[str, str], Cell]


def drawable(store: Store) -> bool:
    return any(runs(store, dataset) for dataset in DATASETS)


def draw(store: Store, folder: Path) -> list[Path]:
    if not drawable(store):
        return []
    drawn = figure(height=12.0)
    titles = ["As printed", *(f"Measured, rule {rule}" for rule in RULES)]
    grid = drawn.subplots(len(DATASETS), len(titles), sharex="row", sharey="row")
    for row, dataset in zip(grid, DATASETS, strict=True):
        theirs, ours = printed()[dataset], cells(runs(store, dataset))
        _draw_points(row[0], theirs)
        for axes, rule in zip(row[1:], RULES, strict=True):
            _draw_shadow(axes, theirs)
            _draw_points(axes, {name[:2]: cell for name, cell in ours.items() if name.thresholds == rule})
        row[0].set_ylabel(f"{protocol(dataset).title}\n\ncoverage (%)", fontsize=10)
        right = max(row[0].get_xlim()[1], 200 * TOLERANCE)
        row[0].set_xlim(0, right)
        drawn_cells = [cell for cell in (*theirs.values(), *ours.values()) if cell.error is not None]
        row[0].set_ylim(_ALL_HIGH if min(100 * cell.coverage.mean for cell in drawn_cells) > _ALL_HIGH else -4, 104)
        for axes in row:
            axes.axvspan(100 * TOLERANCE, right, color=LIMIT, alpha=0.06, linewidth=0)
    for axes, title in zip(grid[0], titles, strict=True):
        axes.set_title(title, fontsize=11, loc="left")
    for axes in grid[-1]:
        axes.set_xlabel("error of machine labels (%)", fontsize=10)
    _legend(drawn)
    return [save(drawn, folder / FILE_NAME)]


def _draw_points(axes: Axes, points: Points) -> None:
    mark_tolerance(axes, vertical=True)
    tidy(axes)
    axes.tick_params(labelbottom=True)
    for (training, confidence), cell in points.items():
        if cell.error is not None:
            axes.scatter(
                100 * cell.error.mean,
                100 * cell.coverage.mean,
                s=_SIZE if cell.labelled == cell.seeds else _FEWER_SEEDS,
                marker=TRAINING_MARKERS[training],
                color=COLOURS[confidence],
                alpha=0.75,
                edgecolors="white",
                linewidths=0.5,
                zorder=4 if confidence == "colander" else 3,
            )
    silent = sum(cell.error is None for cell in points.values())
    note = f"{silent} of {len(points)}\nlabel nothing" if silent else ""
    axes.text(
        0.98, 0.6, note if points else "not run", transform=axes.transAxes, ha="right", fontsize=9, color="#555555"
    )


def _draw_shadow(axes: Axes, theirs: Points) -> None:
    """Where Colander is in print, as outlines."""
    for (training, confidence), cell in theirs.items():
        if confidence == "colander" and cell.error is not None:
            axes.scatter(
                100 * cell.error.mean,
                100 * cell.coverage.mean,
                s=40,
                marker=TRAINING_MARKERS[training],
                facecolors="none",
                edgecolors=COLOURS[confidence],
                linewidths=1.0,
                zorder=2,
            )


def _legend(drawn: Figure) -> None:
    def dot(colour: str, label: str, marker: str = "o", filled: bool = True) -> Line2D:
        face = colour if filled else "none"
        return Line2D([], [], color=colour, marker=marker, markerfacecolor=face, linestyle="", label=label)

    handles = [
        *(dot(COLOURS[one], TITLES[one]) for one in (*CONFIDENCES, ANCHORED)),
        dot(COLOURS["colander"], "Colander, the paper's number", filled=False),
        *(dot(GREY, TITLES[one], TRAINING_MARKERS[one]) for one in TRAININGS),
        Line2D([], [], color=LIMIT, linestyle="--", label=f"ε = {100 * TOLERANCE:.0f} %"),
    ]
    handles += [Line2D([], [], linestyle="", label="")] * (16 - len(handles))  # trainings in a column of their own
    drawn.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9, frameon=False)
