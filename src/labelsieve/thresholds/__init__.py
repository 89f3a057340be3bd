"""Rules that turn held-out scores into one threshold per class."""

from labelsieve.thresholds.base import ThresholdRule
from labelsieve.thresholds.certified import CertifiedRule
from labelsieve.thresholds.paper import PaperRule

__all__ = ["CertifiedRule", "PaperRule", "ThresholdRule"]
