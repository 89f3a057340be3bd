"""Confidence functions: how sure can one be that the predicted class is right?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labelsieve.confidence.auto import Auto
from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.confidence.dirichlet import Dirichlet
from labelsieve.confidence.energy import Energy
from labelsieve.confidence.entropy import Entropy
from labelsieve.confidence.evidence import Evidence
from labelsieve.confidence.isotonic import Isotonic
from labelsieve.confidence.margin import Margin
from labelsieve.confidence.scaling_binning import ScalingBinning
from labelsieve.confidence.softmax import Softmax
from labelsieve.confidence.temperature import Temperature
from labelsieve.confidence.top_label_binning import TopLabelBinning

if TYPE_CHECKING:
    from labelsieve.confidence.colander import Colander

__all__ = [
    "Auto",
    "Colander",
    "ConfidenceFunction",
    "Dirichlet",
    "Energy",
    "Entropy",
    "Evidence",
    "Isotonic",
    "Margin",
    "ScalingBinning",
    "Softmax",
    "Temperature",
    "TopLabelBinning",
]


def __getattr__(name: str) -> Any:
    """torch is loaded only when Colander is asked for."""
    if name == "Colander":
        from labelsieve.confidence.colander import Colander

        return Colander
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
