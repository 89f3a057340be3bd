"""How long a sequential audit of machine labels takes."""

from __future__ import annotations

import math

import numpy as np

from labelsieve.bounds import anytime_evidence
from labelsieve.planner.result import AuditNeed
from labelsieve.planner.settings import PlanSettings
from labelsieve.seeding import generator
from labelsieve.types import Ints

_AUDITS, _LOOKS = 300, 1000


def audit_need(machine_labels: int, wrong_part: float, settings: PlanSettings) -> AuditNeed:
    """Labels an audit takes if ``wrong_part`` of the tolerance is wrong.

    Simulated audits look after every label at first, then whenever they have about 1 % more. An audit that cannot
    settle it earlier goes on until nothing is left to be wrong.
    """
    wrong_share = wrong_part * settings.tolerance
    if machine_labels == 0:
        return AuditNeed(wrong_share, 0, 0, 0)
    looks = np.unique(np.rint(np.geomspace(1, machine_labels, _LOOKS)).astype(np.int64))
    found = _errors_found(
        looks, round(wrong_share * machine_labels), machine_labels, generator(settings.random_state, "audit")
    )
    evidence = anytime_evidence(found, looks[:, None], machine_labels, settings.tolerance)
    stopped = looks[(evidence >= math.log(1 / settings.delta)).argmax(axis=0)]
    return AuditNeed(
        wrong_share, machine_labels, math.ceil(stopped.mean()), int(np.quantile(stopped, 0.9, method="higher"))
    )


def _errors_found(looks: Ints, wrong: int, total: int, rng: np.random.Generator) -> Ints:
    """Wrong labels found up to each look (rows) in each audit (columns), drawn without replacement."""
    if wrong == 0:
        return np.zeros((len(looks), 1), dtype=np.int64)
    found = np.zeros((len(looks), _AUDITS), dtype=np.int64)
    so_far, seen = np.zeros(_AUDITS, dtype=np.int64), 0
    for row, look in enumerate(looks):
        wrong_left = wrong - so_far
        so_far = so_far + rng.hypergeometric(wrong_left, total - seen - wrong_left, look - seen)
        found[row], seen = so_far, int(look)
    return found
