"""Writes docs/results.md: the words are in results.md.j2, the numbers come from the results."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import TextWrapper
from typing import Any

import jinja2

import labelsieve as ls
from experiments.paper import (
    appendix_tables,
    claims,
    hyperparameters,
    leak,
    rerun,
    rounds,
    single_round,
    table,
    training_error,
)
from experiments.paper.configuration import ANCHORED, DATASETS, RULES, TOLERANCE, TRAININGS, Protocol, protocol
from experiments.paper.figures import exhibits, overview, sweeps
from experiments.paper.store import Store

TEMPLATE = Path(__file__).parent / "results.md.j2"
NAME = "results.md"
FIGURES = "results"
"""Folder of the figures, beside the document."""
_WRAPPERS = {
    is_item: TextWrapper(120, subsequent_indent="  " * is_item, break_long_words=False, break_on_hyphens=False)
    for is_item in (False, True)
}


@dataclass(frozen=True)
class RuleSection:
    """One dataset under one rule."""

    name: str
    facts: claims.RuleFacts
    colander: claims.ClaimFacts
    anchored: claims.ClaimFacts
    pairs: tuple[int, int]


@dataclass(frozen=True)
class DatasetSection:
    """All that the document says about one dataset's part of the table."""

    protocol: Protocol
    main_table: str
    printed: claims.ClaimFacts
    printed_facts: claims.RuleFacts
    printed_colander: table.Cell
    printed_temperature: table.Cell
    rules: list[RuleSection]
    fallbacks: tuple[int, int]
    parameters: str
    chosen_by: claims.Range | None

    @property
    def paper(self) -> RuleSection:
        return self.rules[RULES.index("paper")]

    @property
    def certified(self) -> RuleSection:
        return self.rules[RULES.index("certified")]


def render(store: Store) -> str:
    """The whole document."""
    loader = jinja2.FileSystemLoader(TEMPLATE.parent)
    environment = jinja2.Environment(
        loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "percent": _percent,
        "signed": appendix_tables.signed,
        "span": _span,
        "points_span": _points_span,
        "listed": _listed,
        "number": "{:g}".format,
        "amount": _amount,
        "seeds": lambda number: "one seed" if number == 1 else f"{number} seeds",
        "share": lambda share: f"{share.count} of {share.total}",
        "points": appendix_tables.points,
        "title": table.TITLES.__getitem__,
        "comparison_table": rerun.comparison_table,
    }
    return _filled(environment.get_template(TEMPLATE.name).render(_context(store)))


def write(store: Store, docs_folder: Path) -> Path:
    path = docs_folder / NAME
    path.write_text(render(store), encoding="utf-8")
    return path


def _filled(text: str) -> str:
    """Paragraphs and list items in lines of equal width; tables, headings, images and code as they are."""

    def fill(words: str) -> str:
        kept = re.sub(r"(?<=\d) %", "\0%", " ".join(words.split()))  # a number and its % stay in one line
        return _WRAPPERS[words.startswith("- ")].fill(kept).replace("\0", " ")

    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        block = block.strip("\n")
        if block.startswith(("|", "#", "!", "```")):
            blocks.append(block)
        else:
            blocks.append("\n".join(fill(item) for item in re.split(r"\n(?=- )", block)))
    return "\n\n".join(blocks) + "\n"


def _context(store: Store) -> dict[str, Any]:
    sections = {dataset: _section(store, dataset) for dataset in DATASETS}
    measured = {dataset: claims.under_rule(table.runs(store, dataset), "paper") for dataset in DATASETS}
    drawn, trained = sweeps.drawable(store), training_error.summary(store)
    single, as_printed = single_round.summary(store), rounds.rows(store)
    leaks = {dataset: ways for dataset, ways in leak.summary(store).items() if {"honest", "leaking"} <= ways.keys()}
    released = appendix_tables.released_code()
    trends = {pair: claims.trends(store, *pair) for pair in drawn}
    ranking, again = claims.ranking(measured, trained), rerun.comparisons(store)
    fewest_seeds = min(protocol(dataset).seeds for dataset in DATASETS)
    return {
        "sections": sections,
        "figures": FIGURES,
        "settings": appendix_tables.settings_table(store),
        "released_code": appendix_tables.released_code_table(),
        "temperature_of_released_code": sorted(
            ways["temperature"]["coverage"] for (dataset, _), ways in released.items() if dataset == "mnist"
        ),
        "errors_of_released_code": {
            way: claims.Range.of(float(ways[way]["error"]) / 100 for ways in released.values())
            for way in ("leaking", "fixed")
        },
        "off_print": appendix_tables.off_print_table(measured),
        "tolerance": TOLERANCE,
        "machines": appendix_tables.machines_table(store),
        "certified_total": claims.rule_facts(
            {
                (dataset, *name): cell
                for dataset in DATASETS
                for name, cell in claims.under_rule(table.runs(store, dataset), "certified").items()
            }
        ),
        "delta": inspect.signature(ls.autolabel).parameters["delta"].default,
        "overview": overview.FILE_NAME if overview.drawable(store) else None,
        "sweep_files": {pair: sweeps.file_name(*pair) for pair in drawn},
        "sweep_tables": {
            pair: appendix_tables.sweep_table(found, *pair, sweeps.SYMBOLS[pair[1]]) for pair, found in trends.items()
        },
        "trends": trends,
        "most_of_all": claims.most_of_all,
        "not_fitted": claims.NOT_FITTED,
        "features": {
            dataset: appendix_tables.features_table(store, dataset) for dataset in ("cifar10", "newsgroups20")
        },
        "rounds": appendix_tables.rounds_table(as_printed),
        "rounds_facts": {
            "all": rounds.facts(as_printed),
            "colander": rounds.facts([row for row in as_printed if row.confidence == "colander"]),
            "others": rounds.facts([row for row in as_printed if row.confidence != "colander"]),
        },
        "printed_rounds": _printed_rounds(),
        "trainings": appendix_tables.trainings_table(measured, trained),
        "ranking": ranking,
        "gains": _squentropy_gains(measured["tiny_imagenet"]),
        "calibration": {"printed": claims.calibration(table.printed()), "ours": claims.calibration(measured)},
        "squentropy": {"printed": claims.covers_most(table.printed()), "ours": claims.covers_most(measured)},
        "single_round": single,
        "single_round_seed": exhibits.single_round_seed(store),
        "single_round_sizes": single_round.Sizes(),
        "single_round_table": appendix_tables.single_round_table(single),
        "leak": leaks,
        "leak_seed": exhibits.LEAK_SEED,
        "leak_table": appendix_tables.leak_table(leaks),
        "flag": leak.flag_facts(leaks),
        "exhibit_files": {
            "single_round": exhibits.SINGLE_ROUND,
            "surrogates": exhibits.SURROGATES,
            "leak": exhibits.LEAK,
        },
        "again": again,
        "never_again": rerun.never_again(again),
        "beyond_limit": [protocol(dataset).title for dataset in DATASETS if _prints_beyond_limit(dataset)],
        "hardly_trained": [(dataset, training) for dataset, training, _ in ranking.untrained],
        "fewest_seeds": fewest_seeds,
        "fails_by_chance": rerun.fails_by_chance(fewest_seeds),
        "surrogates": claims.surrogate_gaps(),
        "tried_alpha": hyperparameters.tried(store, "colander", "alpha"),
        "tried": hyperparameters.tried_table(store),
        "lowest_error": hyperparameters.LOWEST_ERROR,
        "at_random": hyperparameters.AT_RANDOM,
    }


def _prints_beyond_limit(dataset: str) -> bool:
    """Whether the paper has a coverage that a run which spends its budget cannot have."""
    limit = 1 - protocol(dataset).train_budget / protocol(dataset).pool
    return max(cell.coverage.mean for cell in table.printed()[dataset].values()) > limit


def _section(store: Store, dataset: str) -> DatasetSection:
    found, theirs = table.runs(store, dataset), table.printed()[dataset]
    rules = []
    for rule in RULES:
        column = claims.under_rule(found, rule)
        rules.append(
            RuleSection(
                rule,
                claims.rule_facts(column),
                claims.claim(column),
                claims.claim(column, ANCHORED),
                claims.pairs(found, rule),
            )
        )
    return DatasetSection(
        protocol=protocol(dataset),
        main_table=table.main_table(store, dataset),
        printed=claims.claim(theirs),
        printed_facts=claims.rule_facts(theirs),
        printed_colander=theirs["vanilla", "colander"],
        printed_temperature=theirs["vanilla", "temperature"],
        rules=rules,
        fallbacks=claims.fallbacks(found),
        parameters=hyperparameters.parameters_table(store, dataset),
        chosen_by=claims.Range.of(hyperparameters.chosen_coverages(store, dataset, "colander")),
    )


def _printed_rounds(dataset: str = "cifar10") -> int:
    plan = protocol(dataset).sweeps["next_batch"]
    return protocol(dataset).changed(plan.changes(plan.values[0])).rounds


def _squentropy_gains(measured: claims.Column) -> dict[str, Any]:
    """Coverage that Squentropy gains over each other training on Tiny-ImageNet with softmax: printed as a range, ours
    by training."""
    printed, ours = (
        {
            other: gain.coverage
            for other in TRAININGS
            if other != "squentropy" and (gain := claims.training_gain(column, "squentropy", other))
        }
        for column in (table.printed()["tiny_imagenet"], measured)
    )
    return {"printed": claims.Range.of(printed.values()), "ours": ours}


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _span(found: claims.Range) -> str:
    low, high = _percent(found.low), _percent(found.high)
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def _points_span(found: claims.Range) -> str:
    low, high = appendix_tables.points(found.low), appendix_tables.points(found.high)
    return f"{low} points" if low == high else f"{low} to {high} points"


def _amount(value: float) -> str:
    return f"{value:,}"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
