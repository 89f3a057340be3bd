"""Who answers when a label is asked for."""

from labelsieve.annotators.base import Annotator, as_annotator
from labelsieve.annotators.simulated import SimulatedAnnotator

__all__ = ["Annotator", "SimulatedAnnotator", "as_annotator"]
