"""The single round of Section 2.2, the tightness of surrogates, and the leak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.stats import gaussian_kde, rankdata

from experiments.paper import leak, single_round, surrogates
from experiments.paper.configuration import ANCHORED, protocol
from experiments.paper.figures.style import COLOURS, GREY, LIMIT, figure, mark_tolerance, save, tidy
from experiments.paper.store import Record, Store
from experiments.paper.table import printed

SINGLE_ROUND, SURROGATES, LEAK = "single_round.png", "surrogates.png", "leak.png"
LEAK_SEED = leak.SEEDS[0]
"""The one whose scores are drawn."""
_RIGHT, _WRONG = "#0072B2", "#D55E00"
_NAMES = {
    "softmax": "softmax",
    "temperature": "temperature\nscaling",
    "colander": "Colander",
    ANCHORED: "Colander,\nanchored",
    "honest": "Colander",
    "leaking": "given the flag",
    "fixed": "epoch chosen",
    "released": "flag, epoch chosen",
}
_BAR_COLOURS = {
    **COLOURS,
    "softmax": "#555555",
    **dict.fromkeys(leak.WAYS[1:], COLOURS["colander"]),
    **dict.fromkeys(leak.GIVEN_THE_FLAG, LIMIT),
}
_BINS = 20
_FLAT = 0.2
"""Scores that differ by less are drawn larger."""
_FLAT_NAMES = 4
"""More bars have their names at an angle."""
Floats = npt.NDArray[np.float64]


def draw(store: Store, folder: Path) -> list[Path]:
    """Those whose results exist, and the surrogates, which need none."""
    drawn = [draw_surrogates(folder)]
    if single_round.summary(store):
        drawn.append(draw_single_round(store, folder))
    if any("honest" in ways and "leaking" in ways for ways in leak.summary(store).values()):
        drawn.append(draw_leak(store, folder))
    return drawn


def draw_single_round(store: Store, folder: Path) -> Path:
    """Figure 2 of the paper: densities of the scores, coverage, error."""
    found = single_round.summary(store)
    records, first = store.read(single_round.KIND, single_round.DATASET), single_round_seed(store)
    drawn = figure(height=5.4)
    above, below = np.ravel(drawn.subfigures(2, 1, height_ratios=[1.15, 1]))
    for axes, name in zip(above.subplots(1, len(found)), found, strict=True):
        (record,) = (each for each in records if (each["seed"], each["confidence"]) == (first, name))
        _densities(axes, record)
        axes.set_title(_NAMES[name].replace("\n", " "), fontsize=10)
    above.axes[0].set_ylabel("density", fontsize=10)
    above.axes[0].legend(fontsize=8, frameon=False, loc="upper left")
    of_coverage, of_error = below.subplots(1, 2)
    _bars(of_coverage, {name: each["coverages"] for name, each in found.items()}, "coverage (%)")
    _bars(of_error, {name: each["errors"] for name, each in found.items()}, "error of machine labels (%)")
    mark_tolerance(of_error)
    return save(drawn, folder / SINGLE_ROUND)


def single_round_seed(store: Store) -> int | None:
    """The one whose densities are drawn; None if nothing was run."""
    return min((record["seed"] for record in store.read(single_round.KIND, single_round.DATASET)), default=None)


def draw_surrogates(folder: Path) -> Path:
    """Error and coverage against the threshold, real and smooth."""
    drawn = figure(height=3.4)
    of_error, of_coverage = drawn.subplots(1, 2)
    shades = ("#9ecae1", "#4292c6", "#08519c")
    for number, curve in enumerate(surrogates.curves()):
        real = curve.alpha is None
        look = {"color": "#cccccc", "linewidth": 5} if real else {"color": shades[number - 1]}
        label = "real" if real else f"surrogate, α = {curve.alpha:g}"
        of_error.plot(curve.thresholds, 100 * curve.error, label=label, **look)
        of_coverage.plot(curve.thresholds, 100 * curve.coverage, label=label, **look)
    for axes, text in ((of_error, "error (%)"), (of_coverage, "coverage of ŷ = 1 (%)")):
        tidy(axes)
        axes.set_xlabel("threshold t", fontsize=10)
        axes.set_ylabel(text, fontsize=10)
        axes.set_ylim(bottom=0)
    of_coverage.legend(fontsize=9, frameon=False)
    return save(drawn, folder / SURROGATES)


def draw_leak(store: Store, folder: Path) -> Path:
    """Per dataset: predictions by rank of their score, in the round in which that way labels most; coverage; error."""
    found = {dataset: ways for dataset, ways in leak.summary(store).items() if {"honest", "leaking"} <= set(ways)}
    drawn = figure(height=2.7 * len(found) + 0.4)
    grid = drawn.subplots(len(found), 4, squeeze=False, width_ratios=[1.2, 1.2, 1, 1])
    for row, (dataset, ways) in zip(grid, found.items(), strict=True):
        records = store.read(leak.KIND, dataset)
        compared = leak.EPOCH_CHOSEN if set(leak.EPOCH_CHOSEN) <= set(ways) else ("honest", "leaking")
        for axes, way in zip(row[:2], compared, strict=True):
            own = next(each for each in records if (each["way"], each["seed"]) == (way, LEAK_SEED))
            shown = own["largest_round"]
            _ranks(axes, shown)
            axes.set_title(f"{protocol(dataset).title}, round {shown['number']}\nColander, {_NAMES[way]}", fontsize=10)
        theirs = printed()[dataset]["vanilla", "colander"]
        for axes, of, text in ((row[2], "coverage", "coverage (%)"), (row[3], "error", "error (%)")):
            _bars(axes, {way: each[f"{of}s"] for way, each in ways.items()}, text)
            axes.axhline(100 * getattr(theirs, of).mean, color=GREY, linestyle=":", linewidth=1.6, zorder=1)
        row[2].set_ylim(0, 100)
        mark_tolerance(row[3])
    keys = [
        Patch(color=_RIGHT, label="right"),
        Patch(color=_WRONG, label="wrong"),
        Line2D([], [], color=GREY, linestyle=":", linewidth=1.6, label="Colander, the paper's number"),
        Line2D([], [], color=LIMIT, linestyle="--", linewidth=1.2, label="ε = 5 %"),
    ]
    drawn.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize=9, frameon=False)
    return save(drawn, folder / LEAK)


def _densities(axes: Axes, record: Record) -> None:
    """Kernel estimates of the scores of right and of wrong predictions, on points the score was not fitted on."""
    unseen = ~np.array(record["calibrates"], dtype=bool)
    scores, right = np.array(record["scores"])[unseen], np.array(record["right"], dtype=bool)[unseen]
    low, high = (0.0, 1.0) if np.ptp(scores) > _FLAT else _range(scores)
    at = np.linspace(low, high, 400)
    for own, colour, label in ((scores[right], _RIGHT, "right"), (scores[~right], _WRONG, "wrong")):
        if len(own) > 1 and np.ptp(own) > 1e-9:
            density = gaussian_kde(own)(at)
            axes.fill_between(at, density, color=colour, alpha=0.35, linewidth=0, label=label)
            axes.plot(at, density, color=colour, linewidth=1.4)
        elif len(own):
            axes.axvline(own[0], color=colour, linewidth=2, label=label)
    tidy(axes)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom=0)
    axes.set_yticks([])
    axes.xaxis.set_major_locator(MaxNLocator(2))
    aside = (low, high) != (0.0, 1.0)  # an offset of the axis may stand on the right
    axes.set_xlabel("score", fontsize=10, loc="left" if aside else "center")


def _range(scores: Floats) -> tuple[float, float]:
    spread = max(float(np.ptp(scores)), 1e-6)
    return float(scores.min()) - 0.05 * spread, float(scores.max()) + 0.05 * spread


def _ranks(axes: Axes, shown: Record) -> None:
    """Stacked counts by rank among the points of one predicted class, as thresholds are set for each class alone."""
    scores, predicted = np.array(shown["scores"]), np.array(shown["predicted"])
    right = np.array(shown["right"], dtype=bool)
    order = np.random.default_rng(0).permutation(len(scores))  # equal scores have no order among them
    ranks = np.empty(len(scores))
    for own in (order[predicted[order] == code] for code in np.unique(predicted)):
        ranks[own] = (rankdata(scores[own], method="ordinal") - 0.5) / len(own)
    weights = [np.full(part.sum(), 100 / len(scores)) for part in (right, ~right)]
    axes.hist(
        [ranks[right], ranks[~right]], bins=_BINS, range=(0, 1), stacked=True, weights=weights,
        color=[_RIGHT, _WRONG], label=["right", "wrong"], edgecolor="white", linewidth=0.4,
    )  # fmt: skip
    tidy(axes)
    axes.set_xlim(0, 1)
    axes.set_xlabel("rank of score in its class", fontsize=9)
    axes.set_ylabel("points (%)", fontsize=9)


def _bars(axes: Axes, values: Mapping[str, Sequence[float | None]], text: str) -> None:
    """Means over seeds, with a dot per seed; nothing where no seed has a value. Said where fewer were run than of
    others."""
    most = max(map(len, values.values()))
    for place, (name, of_seeds) in enumerate(values.items()):
        known = [100 * value for value in of_seeds if value is not None]
        if known:
            axes.bar(place, float(np.mean(known)), color=_BAR_COLOURS[name], width=0.6, alpha=0.75)
            axes.scatter([place] * len(known), known, s=14, color="black", zorder=3)
            if len(of_seeds) < most:
                seeds = "1 seed" if len(of_seeds) == 1 else f"{len(of_seeds)} seeds"
                axes.annotate(seeds, (place, max(known)), (0, 6), textcoords="offset points", ha="center", fontsize=8)
        else:
            axes.text(place, 0, "none", ha="center", va="bottom", fontsize=9, color=GREY)
    tidy(axes)
    axes.set_xticks(range(len(values)), [_NAMES[name] for name in values], fontsize=8)
    if len(values) > _FLAT_NAMES:
        axes.set_xticks(axes.get_xticks(), axes.get_xticklabels(), rotation=35, ha="right", rotation_mode="anchor")
    axes.set_ylabel(text, fontsize=10)
    axes.set_ylim(bottom=0)
