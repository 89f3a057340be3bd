"""When to stop."""

from __future__ import annotations


def reason_to_stop(
    *,
    remaining: int,
    untrained_labels: int,
    train_budget_left: int,
    rounds: int,
    max_rounds: int | None,
    validation_reason: str | None,
) -> str | None:
    """Why another round would be in vain or is not wanted; None to go on.

    ``untrained_labels``: answers no model has learned from yet. The last batch asked for is still trained on.
    ``validation_reason``: why no later round could set a threshold, if so.
    """
    if remaining == 0:
        return "the pool is empty"
    if max_rounds is not None and rounds >= max_rounds:
        return "max_rounds is reached"
    if validation_reason is not None:
        return validation_reason
    if train_budget_left <= 0 and untrained_labels == 0:
        return "the train budget is used"
    return None
