"""Confidence functions: how sure can one be that the predicted class is right?"""

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.confidence.softmax import Softmax

__all__ = ["ConfidenceFunction", "Softmax"]
