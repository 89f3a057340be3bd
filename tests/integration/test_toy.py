"""The toy of the paper's appendix, through the whole loop, against numbers computed by hand.

x is uniform on (0, 1), y = 1 from 0.5 on, and the classifier says 1 from 0.25 on. With score |x − 0.25| and the plain
error as the rule (c1 = 0), the side ŷ = 1 may be labelled from t on where (0.25 − t) / (0.75 − t) = ε.
"""

from __future__ import annotations

import numpy as np
import pytest

import labelsieve as ls
from labelsieve.classifiers.base import Classifier
from labelsieve.types import Outputs


class FromAQuarter(Classifier):
    """Says 1 from 0.25 on, whatever it is taught."""

    def fingerprint(self):
        return "toy"

    def check(self, x, n_classes):
        pass

    def with_training(self, method):
        return self

    def _fit(self, x, y, n_classes, seed, progress):
        pass

    def _outputs(self, x):
        return Outputs(np.c_[0.25 - x[:, 0], x[:, 0] - 0.25], x)


class Distance(ls.confidence.ConfidenceFunction):
    needs_fitting = False

    def _score(self, outputs):
        return np.abs(outputs.features[:, 0] - 0.25)


@pytest.mark.parametrize("tolerance", [0.02, 0.05, 0.1, 0.25])
def test_coverage_and_error_as_computed_by_hand(tolerance):
    def uniform(n):
        x = (np.arange(n) + 0.5) / n
        return x[:, None], (x >= 0.5).astype(int)

    x, y = uniform(20_000)
    run = ls.autolabel(
        x, ls.SimulatedAnnotator(y), classes=2, tolerance=tolerance, train_budget=10, seed_size=10, max_rounds=1,
        classifier=FromAQuarter(), confidence=Distance(), thresholds=ls.thresholds.PaperRule(c1=0),
        validation=uniform(5_000), progress=False,
    )  # fmt: skip
    t = (0.25 - 0.75 * tolerance) / (1 - tolerance)
    labelled, wrong = 0.25 + (0.75 - t), 0.25 - t
    outcome = run.evaluate(y)
    assert run.rounds[0].thresholds == pytest.approx([0.0, t], abs=1e-3)
    assert outcome.coverage == pytest.approx(labelled, abs=2e-3)
    assert outcome.error == pytest.approx(wrong / labelled, abs=2e-3)
    assert outcome.per_class["error"].tolist() == pytest.approx([0.0, tolerance], abs=2e-3)
