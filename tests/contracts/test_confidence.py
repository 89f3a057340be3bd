"""What every confidence function must do. A new one needs a subclass that says how to make it."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest
import torch
from sklearn.base import clone

from labelsieve import confidence, registry
from labelsieve.confidence import ConfidenceFunction, Softmax
from labelsieve.errors import CalibrationWarning, DataError, NotFittedError
from labelsieve.types import Outputs


def right_and_wrong(n=600, k=4, seed=0, dtype=np.float64):
    """Outputs of a classifier that is surer where it is right, and the true codes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    strength = rng.uniform(0, 4, size=n)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), y] += strength
    features = np.c_[strength + rng.normal(size=n), rng.normal(size=(n, 3))]
    features = features.astype(dtype)
    return Outputs(logits.astype(dtype), features, lambda: features[:, :2]), y


class ConfidenceContract:
    """Subclass and say how to ``make`` one."""

    def make(self) -> ConfidenceFunction:
        raise NotImplementedError

    def fitted(self, **problem):
        return self.make().fit(*right_and_wrong(**problem))

    def test_scores_one_number_per_point(self):
        outputs, _ = right_and_wrong(50, seed=3)
        scores = self.fitted().score(outputs)
        assert scores.shape == (50,)
        assert np.isfinite(scores).all()

    def test_higher_means_surer(self):
        outputs, y = right_and_wrong(4000, seed=5)
        scores, right = self.fitted().score(outputs), outputs.predicted == y
        assert scores[right].mean() > scores[~right].mean()

    def test_parameters_are_stored_unchanged(self):
        made = self.make()
        before = made.get_params()
        assert clone(made).get_params() == before
        made.fit(*right_and_wrong())
        assert made.get_params() == before

    def test_same_seed_same_scores(self):
        outputs, _ = right_and_wrong(100, seed=2)
        np.testing.assert_array_equal(self.fitted().score(outputs), self.fitted().score(outputs))

    def test_rows_do_not_depend_on_order_or_company(self):
        outputs, _ = right_and_wrong(60, seed=4)
        fitted, order = self.fitted(), np.random.default_rng(0).permutation(60)
        whole = fitted.score(outputs)
        np.testing.assert_allclose(fitted.score(outputs[order]), whole[order], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(fitted.score(outputs[7:9]), whole[7:9], rtol=1e-5, atol=1e-7)

    def test_no_label_at_score_time(self):
        assert list(inspect.signature(self.make().score).parameters) == ["outputs"]
        assert list(inspect.signature(self.make()._score).parameters) == ["outputs"]

    def test_unfitted_raises(self):
        if self.make().needs_fitting:
            with pytest.raises(NotFittedError, match="must be fitted"):
                self.make().score(right_and_wrong(5)[0])

    def test_lengths_must_agree(self):
        outputs, y = right_and_wrong(20)
        with pytest.raises(DataError, match="20 points and 19 labels"):
            self.make().fit(outputs, y[:-1])

    @pytest.mark.parametrize("k", [2, 10, 200])
    def test_few_and_many_classes(self, k):
        outputs, _ = right_and_wrong(300, k=k, seed=1)
        scores = self.fitted(n=600, k=k).score(outputs)
        assert scores.shape == (300,)
        assert np.isfinite(scores).all()

    def test_single_precision_and_tensors(self):
        fitted = self.fitted(dtype=np.float32)
        outputs, _ = right_and_wrong(200, seed=6, dtype=np.float32)
        scores = fitted.score(outputs)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        arrays = (outputs.logits, outputs.features)
        tensors = (torch.tensor(values, device=device, requires_grad=True) for values in arrays)
        on_device = Outputs(*tensors, outputs.find_evidence)
        np.testing.assert_allclose(fitted.score(on_device), scores, rtol=1e-6)
        doubled = Outputs(outputs.logits.astype(float), outputs.features.astype(float), outputs.find_evidence)
        np.testing.assert_allclose(fitted.score(doubled), scores, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize(
        ("problem", "message"),
        [
            ("empty", "at least 10 calibration points and got 0"),
            ("tiny", "at least 10 calibration points and got 9"),
            ("one class", "all .* calibration points are of one class"),
            ("all right", "right on all"),
            ("all wrong", "wrong on all"),
        ],
    )
    def test_too_little_to_learn_from_falls_back_to_softmax_and_says_so(self, problem, message):
        outputs, y = right_and_wrong(300)
        match problem:
            case "empty" | "tiny":
                rows = np.arange(0 if problem == "empty" else 9)
            case "one class":
                rows = np.flatnonzero(y == 2)
            case "all right":
                rows = np.flatnonzero(outputs.predicted == y)
            case _:
                rows = np.flatnonzero(outputs.predicted != y)
        made = self.make()
        if not made.needs_fitting:
            made.fit(outputs[rows], y[rows])
            return
        if made.warns_of_fallback:
            with pytest.warns(CalibrationWarning, match=message):
                made.fit(outputs[rows], y[rows])
        else:
            made.fit(outputs[rows], y[rows])
        assert re.search(message, made.fallback_)
        np.testing.assert_array_equal(made.score(outputs), Softmax().score(outputs))

    def test_a_new_fit_forgets_the_fallback(self):
        made = self.make()
        outputs, y = right_and_wrong(300)
        if made.needs_fitting:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)
                made.fit(outputs[:5], y[:5])
            assert made.fallback_
        made.fit(outputs, y)
        np.testing.assert_array_equal(made.score(outputs), self.make().fit(outputs, y).score(outputs))

    def test_labels_must_be_codes(self):
        outputs, y = right_and_wrong(20)
        with pytest.raises(DataError, match="class codes 0 to 3"):
            self.make().fit(outputs, y + 1 + 4 * (y == 3))


class TestSoftmax(ConfidenceContract):
    def make(self):
        return confidence.Softmax()


class TestTemperature(ConfidenceContract):
    def make(self):
        return confidence.Temperature()


class TestTopLabelBinning(ConfidenceContract):
    def make(self):
        return confidence.TopLabelBinning()


class TestScalingBinning(ConfidenceContract):
    def make(self):
        return confidence.ScalingBinning()


class TestDirichlet(ConfidenceContract):
    def make(self):
        return confidence.Dirichlet()


class TestColander(ConfidenceContract):
    def make(self):
        return confidence.Colander()


class TestMargin(ConfidenceContract):
    def make(self):
        return confidence.Margin()


class TestEntropy(ConfidenceContract):
    def make(self):
        return confidence.Entropy()


class TestEnergy(ConfidenceContract):
    def make(self):
        return confidence.Energy()


class TestIsotonic(ConfidenceContract):
    def make(self):
        return confidence.Isotonic()


class TestEvidence(ConfidenceContract):
    def make(self):
        return confidence.Evidence()


class TestColanderOnEvidence(ConfidenceContract):
    def make(self):
        return registry.create("confidence", "colander-evidence")


class TestAuto(ConfidenceContract):
    def make(self):
        return confidence.Auto()


class TestColanderAsPrinted(ConfidenceContract):
    def make(self):
        return confidence.Colander(anchor=None, alpha=10.0, epochs=40)


def test_every_registered_function_has_a_contract():
    covered = {type(contract().make()) for contract in ConfidenceContract.__subclasses__()}
    assert {type(registry.create("confidence", name)) for name in registry.BUILT_IN["confidence"]} <= covered
