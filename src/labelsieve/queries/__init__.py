"""Strategies that choose which pool points to ask humans about next."""

from labelsieve.queries.base import Query, Selection
from labelsieve.queries.coreset import Coreset
from labelsieve.queries.entropy import Entropy
from labelsieve.queries.least_confidence import LeastConfidence
from labelsieve.queries.margin import Margin
from labelsieve.queries.margin_random import MarginRandom
from labelsieve.queries.near_threshold import NearThreshold
from labelsieve.queries.random import Random

__all__ = [
    "Coreset",
    "Entropy",
    "LeastConfidence",
    "Margin",
    "MarginRandom",
    "NearThreshold",
    "Query",
    "Random",
    "Selection",
]
