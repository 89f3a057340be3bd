"""Label tables the audit's tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd


def label_table(machine: int = 300, human: int = 20, seed: int = 0) -> pd.DataFrame:
    """``human`` human labels, then ``machine`` machine labels: all say "cat"; scores grow with the row."""
    total = machine + human
    by_machine = np.arange(total) >= human
    return pd.DataFrame(
        {
            "id": [f"p{row}" for row in range(total)],
            "label": "cat",
            "source": np.where(by_machine, "machine", "human"),
            "role": np.where(by_machine, "machine", "train"),
            "round": np.where(by_machine, 1 + np.arange(total) * 3 // total, 0),
            "confidence": np.where(by_machine, np.linspace(0.5, 1, total), np.nan),
            "threshold": np.where(by_machine, 0.5, np.nan),
        }
    )


def all_cats(ids: np.ndarray) -> list[str]:
    return ["cat"] * len(ids)
