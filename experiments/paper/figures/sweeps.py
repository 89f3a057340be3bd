"""Error and coverage against N_t, N_v and ν: one line per confidence function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes

from experiments.paper.configuration import DATASETS, Sweep, protocol
from experiments.paper.figures.style import COLOURS, MARKERS, figure, mark_tolerance, save, tidy
from experiments.paper.store import Store
from experiments.paper.table import TITLES, Spread, sweep

QUANTITIES = {
    "train_budget": "$N_t$, labels for training",
    "validation": "$N_v$, labels for validation",
    "calibration_fraction": r"$\nu$, share of validation labels that fit the score",
}


SYMBOLS = {"train_budget": "N_t", "validation": "N_v", "calibration_fraction": "ν"}


def file_name(dataset: str, quantity: str) -> str:
    return f"{quantity}-{dataset}.png".replace("_", "-")


def drawable(store: Store) -> list[tuple[str, str]]:
    """Dataset and quantity of every sweep that was run at two values at least."""
    return [
        (dataset, quantity)
        for dataset in DATASETS
        for quantity in QUANTITIES
        if quantity in protocol(dataset).sweeps
        and any(len(points) > 1 for points in sweep(store, dataset, quantity).values())
    ]


def draw(store: Store, folder: Path) -> list[Path]:
    return [_draw_one(store, dataset, quantity, folder) for dataset, quantity in drawable(store)]


def _draw_one(store: Store, dataset: str, quantity: str, folder: Path) -> Path:
    used = protocol(dataset)
    values = used.sweeps[quantity].values
    lines = {name.confidence: points for name, points in sweep(store, dataset, quantity).items()}
    shown = [confidence for confidence in used.sweeps[quantity].confidences if confidence in lines]
    drawn = figure(height=4.0)
    error, coverage = drawn.subplots(1, 2)
    for order, confidence in enumerate(shown):
        # Side by side, so that whiskers do not hide each other.
        aside = (order - (len(shown) - 1) / 2) * 0.006 * (max(values) - min(values))
        _line(error, confidence, {x + aside: cell.error for x, cell in lines[confidence].items() if cell.error})
        _line(coverage, confidence, {x + aside: cell.coverage for x, cell in lines[confidence].items()})
    mark_tolerance(error)
    of_error = "Error of machine labels (%), where there are any"
    for axes, title in ((error, of_error), (coverage, "Coverage (%)")):
        axes.set_title(title, fontsize=11, loc="left")
        axes.set_xlabel(_label(used.sweeps[quantity]), fontsize=10)
        axes.set_xticks(values, [f"{value:,}" for value in values])
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])
        tidy(axes)
    handles, labels = coverage.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=9, frameon=False, columnspacing=1.5)
    seeds = sorted({cell.seeds for points in lines.values() for cell in points.values()})
    drawn.suptitle(_title(used.title, used.sweeps[quantity], seeds), fontsize=12)
    return save(drawn, folder / file_name(dataset, quantity))


def _line(axes: Axes, confidence: str, spreads: Mapping[float, Spread]) -> None:
    stressed = confidence == "colander"
    means = [100 * spread.mean for spread in spreads.values()]
    below = [100 * (spread.mean - spread.low) for spread in spreads.values()]
    above = [100 * (spread.high - spread.mean) for spread in spreads.values()]
    axes.errorbar(
        list(spreads),
        means,
        yerr=[below, above],
        label=TITLES[confidence],
        color=COLOURS[confidence],
        marker=MARKERS[confidence],
        markersize=9 if stressed else 5,
        linewidth=2.4 if stressed else 1.4,
        elinewidth=0.8,
    )


def _label(plan: Sweep) -> str:
    return QUANTITIES[plan.name] + (f" ($N_t$ = {plan.total:,} − $N_v$)" if plan.total else "")


def _title(dataset_title: str, plan: Sweep, seeds: Sequence[int]) -> str:
    trainings = ", ".join(TITLES[training] for training in plan.trainings)
    number = "–".join(str(one) for one in dict.fromkeys((seeds[0], seeds[-1])))
    over = "one seed" if number == "1" else f"mean and range of {number} seeds"
    return f"{dataset_title}, {trainings}, rule paper: {over}"
