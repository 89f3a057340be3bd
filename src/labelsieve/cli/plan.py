"""``labelsieve plan``: a forecast of labels, savings and cost, as tables or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from labelsieve.planner import Case, Plan, ValidationNeed
from labelsieve.planner import plan as forecast
from labelsieve.reports.wording import percent, plural

_WIDTH = 100


@dataclass(frozen=True)
class _Table:
    """Named rows under column heads; the heads may be empty."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def plan(arguments: argparse.Namespace) -> int:
    """Print the forecast. A plan that does not pay is an answer, not an error."""
    result = forecast(
        arguments.pool,
        arguments.classes,
        tolerance=arguments.tolerance,
        delta=arguments.delta,
        train_budget=arguments.train_budget,
        validation_budget=arguments.validation_budget,
        budget=arguments.budget,
        pilot=arguments.pilot,
        pilot_accuracy=arguments.pilot_accuracy,
        price=arguments.price,
        minutes=arguments.minutes,
        candidates=arguments.candidates,
    )
    if arguments.json:
        print(json.dumps(result.to_dict(), indent=2, allow_nan=False))
    elif sys.stdout.isatty():
        _print_rich(result)
    else:
        _print_plain(result)
    return 0


def _title(result: Plan) -> str:
    return (
        f"A forecast, not a promise: {result.pool_size:,} points, {result.classes:,} classes, at most "
        f"{_share(result.tolerance)} of the machine labels wrong at {_share(1 - result.delta)} confidence."
    )


def _tables(result: Plan) -> list[_Table]:
    return [_to_ask(result), _validation(result), _audit(result), _forecast(result)]


def _to_ask(result: Plan) -> _Table:
    title = "Labels to ask for" if result.budget is None else f"A split of {result.budget:,} labels"
    recommended = "no number would do"
    if result.recommended_validation is not None:
        recommended = f"{result.recommended_validation:,} recommended"
    rows = [["training", f"{result.train_budget:,}", ""], ["validation", f"{result.validation_budget:,}", recommended]]
    if result.audit_budget is not None:
        rows.append(["audit", f"{result.audit_budget:,}", "kept back"])
    return _Table(title, (), rows)


def _validation(result: Plan) -> _Table:
    def row(name: str, need: ValidationNeed) -> list[str]:
        return [name, *(_count(n) for n in (need.at_least, need.likely))]

    return _Table(
        "Validation labels needed to certify anything",
        ("", "labels at least", "labels likely"),
        [row("one threshold", result.joint), row("one per class", result.per_class)],
    )


def _audit(result: Plan) -> _Table:
    return _Table(
        f"Audit labels, to certify {result.audit[0].machine_labels:,} machine labels",
        ("wrong among them", "expected", "enough in 9 of 10"),
        [[_share(need.wrong_share), f"{need.expected:,}", f"{need.nine_in_ten:,}"] for need in result.audit],
    )


def _forecast(result: Plan) -> _Table:
    def row(name: str, show: Callable[[Case], str]) -> list[str]:
        return [name, *(show(case) for case in (result.low, result.middle, result.high))]

    rows = [
        row("machine coverage of the pool", lambda case: _share(case.coverage)),
        row("  with the best threshold in hindsight", lambda case: _share(case.best_in_hindsight)),
        row("machine labels", lambda case: f"{case.machine_labels:,}"),
        row("audit labels", lambda case: f"{case.audit_labels:,}"),
        row("left over for people", lambda case: f"{case.left_over:,}"),
        row("human labels in all", lambda case: f"{case.human_labels:,}"),
        row("human labels saved", lambda case: f"{case.labels_saved:,}"),
    ]
    if result.cost_by_hand is not None:
        rows.append(row(f"cost (by hand {result.cost_by_hand:,.2f})", lambda case: f"{case.cost:,.2f}"))
        rows.append(row("cost saved", lambda case: f"{case.cost_saved:,.2f}"))
    if result.hours_by_hand is not None:
        rows.append(row(f"hours saved (of {result.hours_by_hand:,.1f})", lambda case: f"{case.hours_saved:,.1f}"))
    title = f"Forecast, from {_source(result)}; coverage cannot exceed {_share(result.coverage_limit)}"
    return _Table(title, ("", "low", "middle", "high"), rows)


def _source(result: Plan) -> str:
    if result.basis == "assumptions" or result.pilot_accuracy is None:
        return "assumptions alone"
    accuracy = f"accuracy {_share(result.pilot_accuracy)}"
    if result.pilot_points is None:
        return accuracy
    auroc = "no errors to tell apart" if result.pilot_auroc is None else f"AUROC {result.pilot_auroc:.3g}"
    return f"a pilot of {plural(result.pilot_points, 'point')} ({accuracy}, {auroc})"


def _print_rich(result: Plan) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(_title(result))
    for reason in result.verdict.reasons:
        console.print(reason, style="bold")
    for table in _tables(result):
        drawn = Table(title=table.title, title_justify="left", show_header=bool(table.heads))
        for number in range(len(table.rows[0])):
            drawn.add_column(table.heads[number] if table.heads else "", justify="right" if number else "left")
        for row in table.rows:
            drawn.add_row(*row)
        console.print(drawn)
    console.print("Taken for granted:")
    for line in result.assumptions:
        console.print(f"- {line}")


def _print_plain(result: Plan) -> None:
    for sentence in (_title(result), *result.verdict.reasons):
        print(_wrapped(sentence))
    for table in _tables(result):
        print(f"\n{table.title}")
        lines = [table.heads, *table.rows] if table.heads else table.rows
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            first, *others = (
                cell.rjust(width) if number else cell.ljust(width)
                for number, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            print("  ".join((f"  {first}", *others)).rstrip())
    print("\nTaken for granted")
    for sentence in result.assumptions:
        print(_wrapped(sentence, "  - ", "    "))


def _wrapped(sentence: str, first: str = "", others: str = "") -> str:
    """Filled lines that never part a number from its %."""
    joined = sentence.replace(" %", "\u00a0%")
    return textwrap.fill(joined, _WIDTH, initial_indent=first, subsequent_indent=others).replace("\u00a0", " ")


def _count(number: int | None) -> str:
    return "impossible" if number is None else f"{number:,}"


def _share(share: float) -> str:
    """With a plain space: a terminal without Unicode shows the other kind as a question mark."""
    return percent(share).replace("\u00a0", " ")
