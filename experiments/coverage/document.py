"""Writes docs/coverage.md and its figure: the words are in coverage.md.j2, the numbers come from the results."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from experiments.coverage import limit
from experiments.coverage.running import Dataset, datasets, numbers_of_points, variants
from experiments.paper import store as paper_results
from experiments.paper.configuration import CONFIDENCES, DATASETS, TOLERANCE, TRAININGS, protocol
from experiments.paper.figures import style
from experiments.paper.store import RUNS, Record, Store, numbers_of
from experiments.paper.table import TITLES, printed
from labelsieve.registry import create

NAME = "coverage.md"
FIGURE = "coverage/risk.png"
_BEGIN, _END = "<!-- written by `python -m experiments.coverage table` -->\n", "<!-- end -->\n"
_COLOURS = {"softmax": "#000000", "auto": "#56B4E9", "semi-supervised-fewer-labels": "#999999"}
"""Variants whose curves are drawn, beside what the product takes by itself."""
_COLOUR_OF_DEFAULT, _LABEL_OF_DEFAULT = "#D55E00", "labelsieve, as it comes"
_HIGHEST_ERROR = 12
_BASES = {
    "evidence-from-a-split": ("softmax",),
    "evidence": ("softmax",),
    "colander-on-evidence": ("softmax",),
    "auto": ("softmax",),
    "kernel": ("softmax",),
    "auto-kernel": ("auto",),
    "auto-features": ("auto",),
    "better-network": ("softmax",),
    "auto-better-network": ("better-network",),
    "semi-supervised": ("better-network", "softmax"),
    "auto-semi-supervised": ("auto-better-network", "auto"),
    "auto-random-queries": ("auto",),
    "auto-near-threshold-queries": ("auto",),
    "auto-fewer-labels": ("auto",),
    "semi-supervised-fewer-labels": ("semi-supervised",),
}
"""What a variant is compared with: the first of these that a dataset has. What the product takes by itself is compared
with ``_FIRST``."""
_FIRST = "softmax"
_TITLE_WIDTH = 24
_RULE_CHANGED = ((0, 2), (0, 4))
"""Versions from which on the certified rule lets more through."""


@dataclass(frozen=True)
class Cell:
    """All seeds of one variant on one dataset; those that label nothing have a coverage and no error.

    ``in_hindsight``: part of the points left to label that one threshold could have let through, its error known.
    ``taught``: labels to train that were asked for. Runs of the paper's methods do not keep the last four."""

    coverages: tuple[float, ...]
    errors: tuple[float, ...]
    taught: float = math.nan
    right: float = math.nan
    augrc: float = math.nan
    in_hindsight: float = math.nan

    @property
    def coverage(self) -> float:
        return statistics.mean(self.coverages)

    @property
    def error(self) -> float | None:
        return statistics.mean(self.errors) if self.errors else None

    @property
    def broken(self) -> int:
        """Seeds in which more than the tolerance of the machine labels are wrong."""
        return sum(error > TOLERANCE for error in self.errors)

    def __str__(self) -> str:
        spread = f" ± {100 * statistics.stdev(self.coverages):.1f}" if len(self.coverages) > 1 else ""
        error = "–" if self.error is None else f"{100 * self.error:.1f}"
        held, empty = len(self.coverages) - self.broken, len(self.coverages) - len(self.errors)
        none = f", {empty} empty" if empty else ""
        return f"{100 * self.coverage:.1f}{spread} @ {error} ({held}/{len(self.coverages)}{none})"


@dataclass(frozen=True)
class Gain:
    """Coverage of one variant less that of another, seed by seed.

    ``nothing_left``: both label all that is left, with as many labels to train. ``versions_differ``: the two were run
    with different versions of the package."""

    differences: tuple[float, ...]
    nothing_left: bool = False
    versions_differ: bool = False

    def __str__(self) -> str:
        if self.nothing_left:
            return "limit"
        mean = round(100 * statistics.mean(self.differences), 1) + 0.0  # no minus before a zero
        n = len(self.differences)
        error = f" ± {100 * statistics.stdev(self.differences) / math.sqrt(n):.1f}" if n > 1 else ""
        return f"{mean:+.1f}{error}{' ‡' if self.versions_differ else ''}".replace("-", "−")


@dataclass(frozen=True)
class Section:
    """One dataset."""

    dataset: Dataset
    paper: str
    """What the paper calls it."""
    budget: str
    most: int
    """Labels to train that may be asked for."""
    pool: int
    drawn_from: int
    """Points the pools are drawn from: all but those the search for hyper-parameters has for itself."""
    cells: dict[str, Cell]
    gains: dict[str, Gain]
    """Variant -> what it adds to what it is compared with."""
    together: Gain | None
    """What the product takes by itself against the classifier's own probability."""
    combinations: dict[str, Cell]
    by_version: dict[str, list[str]]
    """Which variants were run with which version of the package."""
    seed_by_seed: list[float]
    """Coverage by the product's defaults, as a multiple of what the combination of the paper that covers most with that
    seed does; of the seeds with which any covers something."""
    older_baseline: bool
    """Whether some combinations of the paper were run when the certified rule let less through than in our runs."""
    broken: dict[int, list[float]]
    """Seed -> errors beyond the tolerance, of all runs of all variants."""

    @property
    def runs(self) -> int:
        return sum(len(cell.coverages) for cell in self.cells.values())

    @property
    def missing(self) -> list[str]:
        """Variants that make sense here and were not run."""
        return [variant for variant in variants() if self.dataset.has(variant) and variant not in self.cells]

    @property
    def cap(self) -> float:
        """The most that can be labelled by machine if all labels to train are asked for."""
        return 1 - self.most / self.pool

    @property
    def asked(self) -> float:
        """Part of the pool that people labelled, by the product's defaults."""
        return self.reached.taught / self.pool if self.reached else math.nan

    @property
    def reached_with(self) -> str:
        """By the product's defaults, and with how many labels to train if not with all."""
        found = self.reached
        if found is None:
            return "not run"
        fewer = f", {found.taught:,.0f} labels to train" if found.taught < self.most else ""
        return f"**{found}**{fewer}"

    @property
    def reached(self) -> Cell | None:
        """By the product's defaults."""
        return self.cells.get(self.dataset.default)

    @property
    def baseline(self) -> tuple[str, Cell] | None:
        """Of all combinations of the paper, under the same rule and with the same budgets, the one that covers most."""
        return max(self.combinations.items(), key=lambda item: item[1].coverage) if self.combinations else None

    @property
    def best(self) -> tuple[str, Cell] | None:
        """The variant that covers most, of those with as many seeds as any."""
        most = max((len(cell.coverages) for cell in self.cells.values()), default=0)
        complete = [(name, cell) for name, cell in self.cells.items() if len(cell.coverages) == most]
        return max(complete, key=lambda item: item[1].coverage) if complete else None


def write(store: Store, docs: Path) -> None:
    (docs / NAME).write_text(render(store), encoding="utf-8")
    readme = docs.parent / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), store), encoding="utf-8")
    draw(store, docs / FIGURE)


def render(store: Store) -> str:
    return _filled("coverage.md.j2", store)


def with_table(readme: str, store: Store) -> str:
    """The text of the README, its first table up to date."""
    before, begin, rest = readme.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    return f"{before}{begin}{_filled('readme.md.j2', store)}{end}{after}"


def _filled(template: str, store: Store) -> str:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"thousands": "{:,}".format, "share": lambda share: f"{100 * share:.1f} %"}
    text = (Path(__file__).parent / template).read_text(encoding="utf-8")
    found, of_pixels = sections(store), datasets()["cifar10"].parameters
    filled = environment.from_string(text).render(
        sections=found,
        limits=sorted(store.read(limit.KIND, limit.DATASET), key=lambda record: record["labels"]),
        printed={dataset: cells["vanilla", "colander"].coverage.mean for dataset, cells in printed().items()},
        variants=list(variants()),
        bases=_BASES,
        first=_FIRST,
        figure=FIGURE,
        fewer="semi-supervised-fewer-labels",
        certified_by={name: in_words(_certified_by(Store(paper_results.RESULTS), name)) for name in DATASETS},
        in_words=in_words,
        highest_error=_HIGHEST_ERROR,
        drawn=list(_COLOURS),
        network=of_pixels["resnet"],
        preset=create("classifier", "resnet").precision,
        consistency=of_pixels["semi-supervised"],
        folds=create("confidence", "auto").folds,
        batches=round(1 / datasets()["cifar10"].semi_supervised["first_share"]),
    )
    return f"{filled}\n"


def _certified_by(store: Store, dataset: str) -> dict[str, list[str]]:
    """Which trainings of the paper's certified runs are by which version of the package."""
    found = {
        version: {run["training"] for run in runs}
        for version, runs in _by_version(
            run for run in store.read(RUNS, dataset) if run["thresholds"] == "certified"
        ).items()
    }
    return {version: [TITLES[name] for name in TRAININGS if name in own] for version, own in found.items()}


def in_words(by_version: Mapping[str, Sequence[str]]) -> str:
    """What is by which version, the newest first; most of it in one word."""
    if len(by_version) < 2:
        return ", ".join(by_version)
    most = max(by_version, key=lambda version: len(by_version[version]))
    named = {version: ", ".join(by_version[version]) for version in by_version if version != most}
    newest_first = sorted(named, key=numbers_of, reverse=True)
    return "; ".join([*(f"{version}: {named[version]}" for version in newest_first), f"{most}: all others"])


def sections(store: Store) -> list[Section]:
    return [_section(dataset, store) for dataset in datasets().values()]


def _section(dataset: Dataset, store: Store) -> Section:
    of_paper = protocol(dataset.paper)
    records = store.read("runs", dataset.name)
    runs = _by_variant(records)
    of_default = runs.get(dataset.default, [])
    most = round(dataset.train_share * of_paper.train_budget)
    of_combinations = _certified_runs_of_paper(dataset.paper) if dataset.train_share == 1 else []
    return Section(
        dataset=dataset,
        paper=of_paper.title,
        budget=f"{most:,} + {of_paper.validation:,} of {of_paper.pool:,}",
        most=most,
        pool=of_paper.pool,
        drawn_from=numbers_of_points()[dataset.paper] - of_paper.search.points,
        cells={variant: _cell(own) for variant, own in runs.items()},
        gains=_gains(dataset, runs, of_paper.pool),
        together=_gain(of_default, runs.get(_FIRST, []), of_paper.pool),
        combinations=_combinations(of_combinations),
        by_version=_variants_by_version(records),
        seed_by_seed=_seed_by_seed(of_default, of_combinations),
        older_baseline=bool(of_combinations)
        and min(map(_rule_of, of_combinations)) < max(map(_rule_of, of_default), default=0),
        broken=_broken(records),
    )


def _by_variant(records: Sequence[Record]) -> dict[str, list[Record]]:
    """In the order of the settings, without those that were not run."""
    found = {variant: [record for record in records if record["variant"] == variant] for variant in variants()}
    return {variant: own for variant, own in found.items() if own}


def _gains(dataset: Dataset, runs: Mapping[str, Sequence[Record]], pool: int) -> dict[str, Gain]:
    found = {}
    for variant in filter(runs.__contains__, _BASES):
        base = next(base for base in _BASES[variant] if dataset.has(base))
        gain = _gain(runs[variant], runs.get(base, []), pool)
        if gain:
            found[variant] = gain
    return found


def _gain(ours: Sequence[Record], theirs: Sequence[Record], pool: int) -> Gain | None:
    """Over the seeds that both have."""
    bases = {record["seed"]: record for record in theirs}
    pairs = [(record, bases[record["seed"]]) for record in ours if record["seed"] in bases]
    if not pairs:
        return None
    return Gain(
        tuple(own["coverage"] - base["coverage"] for own, base in pairs),
        all(own["human_labels"] == base["human_labels"] for own, base in pairs)
        and all(run["machine_labels"] + run["human_labels"] == pool for pair in pairs for run in pair),
        any(own["version"] != base["version"] for own, base in pairs),
    )


def _broken(records: Sequence[Record]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for record in records:
        if (record["error"] or 0) > TOLERANCE:
            found.setdefault(record["seed"], []).append(record["error"])
    return found


def _seed_by_seed(of_default: Sequence[Record], of_combinations: Sequence[Record]) -> list[float]:
    best: dict[int, float] = {}
    for record in of_combinations:
        best[record["seed"]] = max(best.get(record["seed"], 0.0), record["coverage"])
    return [record["coverage"] / best[record["seed"]] for record in of_default if best.get(record["seed"])]


def _variants_by_version(records: Sequence[Record]) -> dict[str, list[str]]:
    return {
        version: list(dict.fromkeys(record["variant"] for record in runs))
        for version, runs in _by_version(records).items()
    }


def _by_version(records: Iterable[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record["version"], []).append(record)
    return found


def _rule_of(record: Record) -> int:
    """Which of its rules, the oldest first, a run was made by."""
    return sum(numbers_of(record["version"]) >= changed for changed in _RULE_CHANGED)


def _cell(records: Sequence[Record]) -> Cell:
    return Cell(
        coverages=tuple(record["coverage"] for record in records),
        errors=tuple(record["error"] for record in records if record["error"] is not None),
        taught=statistics.mean(record["human_labels"] for record in records),
        right=statistics.mean(record["right"] for record in records),
        augrc=statistics.mean(record["augrc"] for record in records),
        in_hindsight=statistics.mean(_in_hindsight(record["risk_curve"]) for record in records),
    )


def _in_hindsight(risk_curve: Sequence[float]) -> float:
    within = [share for share, error in enumerate(risk_curve, start=1) if error <= TOLERANCE]
    return max(within, default=0) / len(risk_curve)


def _certified_runs_of_paper(name: str) -> list[Record]:
    """With the same budgets, and the methods that are in the paper."""
    found = Store(paper_results.RESULTS).read("runs", name)
    certified = [record for record in found if record["thresholds"] == "certified" and not record["changes"]]
    return [record for record in certified if record["confidence"] in CONFIDENCES]


def _combinations(runs: Sequence[Record]) -> dict[str, Cell]:
    found: dict[str, list[Record]] = {}
    for record in runs:
        found.setdefault(f"{record['training']} + {record['confidence']}", []).append(record)
    return {
        method: Cell(
            tuple(record["coverage"] for record in records),
            tuple(record["error"] for record in records if record["error"] is not None),
        )
        for method, records in found.items()
    }


def draw(store: Store, path: Path) -> Path:
    """Error against the part of the pool that is labelled, averaged over seeds."""
    drawn = style.figure(5.6)
    grid = drawn.subplots(2, 4, sharex=True, sharey=True).ravel()
    for axes, dataset in zip(grid, datasets().values(), strict=False):
        runs, pool = _by_variant(store.read("runs", dataset.name)), protocol(dataset.paper).pool
        for variant, colour in _COLOURS.items():
            if variant in runs:
                axes.plot(*_risk_in_pool(runs[variant], pool), color=colour, label=variant, linewidth=1.4)
        if dataset.default in runs:
            curve = _risk_in_pool(runs[dataset.default], pool)
            axes.plot(*curve, color=_COLOUR_OF_DEFAULT, label=_LABEL_OF_DEFAULT, linewidth=2.4, zorder=3)
        style.mark_tolerance(axes)
        style.tidy(axes)
        axes.set_title(textwrap.fill(dataset.title, _TITLE_WIDTH), fontsize=10, loc="left")
        axes.set(xlim=(0, 103), ylim=(0, _HIGHEST_ERROR))  # curves end at 100 and are to be seen there
        axes.set_xticks(range(0, 101, 25))
        axes.tick_params(labelbottom=True, labelleft=True)
    drawn.supxlabel("share of the pool labelled by machine, surest first (%)", fontsize=10)
    drawn.supylabel("error of these machine labels (%)", fontsize=10)
    legend = grid[-1]  # seven datasets, eight places
    legend.axis("off")
    curves_of = {text: line for axes in grid for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    shown = [label for label in (*_COLOURS, _LABEL_OF_DEFAULT) if label in curves_of]
    legend.legend([curves_of[label] for label in shown], shown, frameon=False, fontsize=9, loc="center")
    return style.save(drawn, path)


def _risk_in_pool(records: Sequence[Record], pool: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Shares of the pool and the error when as much is labelled, in percent. A run that asked for fewer labels has
    more of the pool left to label. Where each run has a curve of its own, up to where the first ends."""
    curves = []
    for record in records:
        error = 100 * np.asarray(record["risk_curve"])
        left = 1 - record["human_labels"] / pool
        curves.append((100 * left * np.arange(1, 1 + len(error)) / len(error), error))
    shares = np.linspace(max(own[0] for own, _ in curves), min(own[-1] for own, _ in curves), len(curves[0][0]))
    return shares, np.mean([np.interp(shares, own, error) for own, error in curves], axis=0)
