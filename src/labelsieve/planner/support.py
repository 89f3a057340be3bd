"""How many held-out points certified thresholds need if not one of them is wrong."""

from __future__ import annotations

import math

from labelsieve.planner.result import ValidationNeed
from labelsieve.planner.settings import PlanSettings
from labelsieve.thresholds import CertifiedRule


def fewest_validation(settings: PlanSettings, points: int, groups: int = 1) -> int | None:
    """Fewest validation labels with which each of ``groups`` equally large parts of the ``points`` that are not trained
    on can get a threshold. Groups share delta equally. None if no number is enough."""
    rule = CertifiedRule(settings.tolerance, settings.delta / groups, settings.candidates)
    of_each = rule.fewest_held_out(points // groups)
    return None if of_each is None else groups * of_each


def validation_need(settings: PlanSettings, points: int, groups: int, share_above: float) -> ValidationNeed:
    """The need of ``groups`` thresholds; ``share_above``: share of the points expected above them."""
    at_least = fewest_validation(settings, points, groups)
    likely = None
    if at_least is not None and share_above > 0:
        likely = math.ceil(at_least / share_above)
    return ValidationNeed(groups, at_least, likely if likely is not None and likely < points else None)
