"""Writes the tables of docs/performance.md from the history: ``python -m benchmarks.document``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import HISTORY, Row, number, table

DOCUMENT = Path(__file__).parents[1] / "docs" / "performance.md"


@dataclass(frozen=True)
class Target:
    """A figure to reach: of which row, on what, and how it is judged."""

    wanted: str
    row: str
    device: str
    reached: Callable[[Row], bool]


def seconds_at_most(limit: float) -> Callable[[Row], bool]:
    return lambda row: row.ours <= limit


def ratio_at_least(limit: float) -> Callable[[Row], bool]:
    return lambda row: row.ratio is not None and row.ratio >= limit


def of_naive_at_most(limit: float) -> Callable[[Row], bool]:
    return lambda row: row.naive is not None and row.ours <= limit * row.naive


_GRID = "Colander, 36 settings × 5 seeds, 4,000 × 522, 500 epochs, precision {}, against one by one"
TARGETS = [
    Target("500 times faster than the naive loop", "`paper` thresholds, 4,000 points, 10 classes", "cpu",
           ratio_at_least(500)),
    Target("under 1 s", "`paper` thresholds, 1,000,000 points, 200 classes", "cpu", seconds_at_most(1)),
    Target("60 s", _GRID.format("full"), "gpu", seconds_at_most(60)),
    Target("60 s", _GRID.format("tf32"), "gpu", seconds_at_most(60)),
    Target("10 times faster than one by one", _GRID.format("full"), "gpu", ratio_at_least(10)),
    Target("no slower than one by one",
           "Colander, 8 settings × 2 seeds, 1,000 × 30, 5 epochs, together against one by one", "cpu",
           ratio_at_least(1)),
    Target("30 s", "MNIST, LeNet, 16 rounds, Colander, one run", "gpu", seconds_at_most(30)),
    Target("120 s", "MNIST, LeNet, 16 rounds, Colander, one run", "cpu", seconds_at_most(120)),
    Target("15 min", "MNIST, LeNet, 16 rounds, 24 combinations × 5 seeds", "gpu", seconds_at_most(900)),
    Target("40 s", "CIFAR-10, CNN, 4 rounds, Colander, precision full", "gpu", seconds_at_most(40)),
    Target("40 s", "CIFAR-10, CNN, 4 rounds, Colander, precision bf16", "gpu", seconds_at_most(40)),
    Target("1.3 times the bare forward pass", "score 1,000,000 × 256 from disk", "cpu", of_naive_at_most(1.3)),
    Target("500 MB", "peak memory, 1,000,000 × 256", "cpu", seconds_at_most(500)),
    Target("500 MB", "peak memory, 5,000,000 × 256", "cpu", seconds_at_most(500)),
    Target("5 s", "bookkeeping, 1,000,000 points", "cpu", seconds_at_most(5)),
    *(
        Target("3 times softmax, training left out", f"automatic choice, {case}", "cpu", of_naive_at_most(3))
        for case in (
            "50,000 × 384, 2,000 labels, `kernel`, semi-supervised",
            "50,000 × 384, 2,000 labels, `kernel`, vanilla",
            "50,000 × 384, 2,000 labels, `embedding`, vanilla",
            "50,000 × 28 × 28, 500 labels, `lenet`, vanilla",
        )
    ),
]  # fmt: skip


def latest(history: Path, device: str) -> dict[str, tuple[Row, str]]:
    """The last measurement of each name on a CPU or a GPU, and its date."""
    found: dict[str, tuple[Row, str]] = {}
    for entry in _entries(history, device):
        found |= {row["name"]: (Row(**row), entry["date"]) for row in entry["rows"]}
    return found


def tables(history: Path = HISTORY) -> dict[str, str]:
    """The generated parts of the document."""
    parts = {"targets": _targets(history)}
    for device in ("cpu", "gpu"):
        machines = {_machine(entry) for entry in _entries(history, device)}
        rows = [row for row, _ in latest(history, device).values()]
        parts[device] = f"{'; '.join(sorted(machines))}:\n\n{table(rows)}"
    grown = [growth for entry in _entries(history, "cpu") for growth in entry["growth"]]
    by_name = {(growth["name"], growth["variable"]): growth for growth in grown}
    lines = ["| what | grows with | from | to | exponent |", "|---|---|---|---|---|"]
    for growth in by_name.values():
        sizes = growth["sizes"]
        lines.append(
            f"| {growth['name']} | {growth['variable']} | {sizes[0]:,} | {sizes[-1]:,} | {growth['exponent']:.2f} |"
        )
    return parts | {"growth": "\n".join(lines)}


def document(text: str, parts: dict[str, str]) -> str:
    """The text with its generated parts replaced."""
    for name, part in parts.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        text = f"{before}{start}{part}\n{end}{after}"
    return text


def _targets(history: Path) -> str:
    lines = ["| what | on | wanted | measured | reached |", "|---|---|---|---|---|"]
    for target in TARGETS:
        row, date = latest(history, target.device)[target.row]
        against = "" if row.naive is None else f", naive {number(row.naive, row.unit)}"
        measured = f"{number(row.ours, row.unit)}{against} ({date})"
        lines.append(
            f"| {row.name} | {target.device.upper()} | {target.wanted} | {measured} | "
            f"{'yes' if target.reached(row) else '**no**'} |"
        )
    return "\n".join(lines)


def _entries(history: Path, device: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(history.read_text(encoding="utf-8"))
    return [entry for entry in entries if (entry["machine"]["kind"] == "gpu") == (device == "gpu")]


def _machine(entry: dict[str, Any]) -> str:
    machine, versions = entry["machine"], entry["versions"]
    return f"{machine['device']}, {machine['cores']} CPU cores, torch {versions['torch']}"


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8"), tables()), encoding="utf-8")
