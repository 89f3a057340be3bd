"""Forecasts, before anyone labels: how many labels will be needed, and how many the machine may save."""

from labelsieve.planner.pilot import Pilot, read_pilot
from labelsieve.planner.planning import plan
from labelsieve.planner.result import AuditNeed, Case, Plan, ValidationNeed, Verdict

__all__ = ["AuditNeed", "Case", "Pilot", "Plan", "ValidationNeed", "Verdict", "plan", "read_pilot"]
