"""What all benchmarks share: timing, a table, and a history with date, machine and versions."""

from __future__ import annotations

import gc
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

HISTORY = Path(__file__).with_name("history.json")


@dataclass(frozen=True)
class Row:
    """One measurement: ours, and the naive way from the same run where there is one. Times are in seconds."""

    name: str
    ours: float
    naive: float | None = None
    unit: str = "s"
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times ours the naive way takes."""
        return None if self.naive is None else self.naive / self.ours


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Best wall time of a few runs; a GPU is waited for."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        started = time.perf_counter()
        work()
        _wait_for_gpu()
        best = min(best, time.perf_counter() - started)
    return best


def table(rows: Iterable[Row]) -> str:
    """Markdown."""
    lines = ["| what | ours | naive | naive / ours | |", "|---|---|---|---|---|"]
    for row in rows:
        naive = "" if row.naive is None else number(row.naive, row.unit)
        ratio = "" if row.ratio is None else f"{row.ratio:,.1f}×" if row.ratio < 100 else f"{row.ratio:,.0f}×"
        lines.append(f"| {row.name} | {number(row.ours, row.unit)} | {naive} | {ratio} | {row.note} |")
    return "\n".join(lines)


def record(rows: Iterable[Row], growths: Iterable[Any], device: str, history: Path) -> None:
    """Append to the history."""
    entries = json.loads(history.read_text(encoding="utf-8")) if history.exists() else []
    entries.append(entry(rows, growths, device))
    history.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def entry(rows: Iterable[Row], growths: Iterable[Any], device: str) -> dict[str, Any]:
    """Measurements with what they were measured on."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {
            "kind": "gpu" if device == "cuda" else "cpu",
            "device": _device_name(device),
            "cores": len(os.sched_getaffinity(0)),
            "python": platform.python_version(),
        },
        "versions": {name: version(name) for name in ("torch", "numpy", "scikit-learn")},
        "rows": [asdict(row) for row in rows],
        "growth": [asdict(growth) | {"exponent": growth.exponent} for growth in growths],
    }


def number(value: float, unit: str) -> str:
    """With as many digits as say something."""
    digits = 4 if value < 0.1 else 2 if value < 100 else 0
    return f"{value:,.{digits}f} {unit}"


def _device_name(device: str) -> str:
    if device == "cuda":
        import torch

        return str(torch.cuda.get_device_name())
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "CPU")


def _wait_for_gpu() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()
