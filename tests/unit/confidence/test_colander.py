"""Colander: its surrogates against the equations, its gradient, its tightness, and what it may see."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

import labelsieve as ls
from labelsieve.confidence import Colander, Softmax
from labelsieve.confidence.surrogate import surrogate_coverage, surrogate_error
from labelsieve.engine.entries import Assigned, Role
from labelsieve.errors import ConfigurationError
from tests.contracts.test_confidence import right_and_wrong


def sigma(alpha, z):
    return 1 / (1 + math.exp(-alpha * z))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_surrogates_equal_the_equations(alpha):
    rng = np.random.default_rng(0)
    margins, wrong = rng.uniform(-1, 1, 40), rng.integers(2, size=40)
    weights = [sigma(alpha, m) for m in margins]
    coverage = sum(weights) / 40
    error = sum(w for w, is_wrong in zip(weights, wrong, strict=True) if is_wrong) / sum(weights)
    as_tensor = torch.tensor(margins)
    assert float(surrogate_coverage(as_tensor, alpha)) == pytest.approx(coverage, abs=1e-12)
    assert float(surrogate_error(as_tensor, torch.tensor(wrong), alpha)) == pytest.approx(error, abs=1e-12)


def test_gradient_by_finite_differences():
    torch.manual_seed(0)
    margins = torch.randn(12, dtype=torch.float64, requires_grad=True)
    wrong = (torch.arange(12) % 3 == 0).double()

    def loss(m):
        return -surrogate_coverage(m, 5.0) + 10 * surrogate_error(m, wrong, 5.0)

    assert torch.autograd.gradcheck(loss, (margins,), eps=1e-6, atol=1e-7)


@pytest.mark.parametrize("offset", [-1e4, 1e4])
def test_safe_when_nothing_or_everything_is_above_its_threshold(offset):
    margins = (torch.linspace(-1, 1, 20) + offset).requires_grad_()
    wrong = torch.zeros(20)
    wrong[::4] = 1
    loss = -surrogate_coverage(margins, 100.0) + 10 * surrogate_error(margins, wrong, 100.0)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(margins.grad).all()


def test_tightness_of_the_appendix():
    """x uniform, ŷ = 1 from 0.25 on, y = 1 from 0.5 on, score |0.25 − x|: the gaps to the true coverage and error,
    at their largest over a range of thresholds, shrink as α grows."""
    x = torch.linspace(0.25, 1, 5001, dtype=torch.float64)
    score, wrong = (x - 0.25).abs(), (x < 0.5).double()
    gaps = []
    for alpha in (1, 10, 100, 1000):
        worst = 0.0
        for t in np.linspace(0.05, 0.6, 12):
            above = score >= t
            coverage_gap = abs(float(surrogate_coverage(score - t, alpha) - above.double().mean()))
            error_gap = abs(float(surrogate_error(score - t, wrong, alpha) - wrong[above].mean()))
            worst = max(worst, coverage_gap, error_gap)
        gaps.append(worst)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.01 < gaps[0]


def test_starts_at_the_temperature_scaled_softmax():
    outputs, y = right_and_wrong(400)
    untrained = Colander(learning_rate=0.0, early_stopping=None, epochs=1).fit(outputs, y)
    expected = ls.confidence.Temperature().fit(outputs, y).score(outputs)
    np.testing.assert_allclose(untrained.score(outputs), expected, atol=1e-6)


def test_learns_what_softmax_cannot_know():
    """Feature 0 tells right from wrong; the logits do not."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1500)
    right = rng.uniform(size=1500) < 0.6
    claimed = np.where(right, y, (y + 1) % 3)
    logits = 2.0 * np.eye(3)[claimed] + 0.1 * rng.normal(size=(1500, 3))
    outputs = ls.Outputs(logits, np.c_[right + 0.5 * rng.normal(size=1500), rng.normal(size=(1500, 2))])
    fitted = Colander().fit(outputs[:750], y[:750])
    held_out, correct = outputs[750:], right[750:]
    assert roc_auc_score(correct, Softmax().score(held_out)) < 0.6
    assert roc_auc_score(correct, fitted.score(held_out)) > 0.85


@pytest.mark.parametrize(("features", "width"), [("concat", 8), ("logits", 4), ("prelogits", 4)])
def test_features_and_width_of_the_network(features, width):
    fitted = Colander(features=features, epochs=2).fit(*right_and_wrong(100))
    assert fitted.network_[0].in_features == width
    assert fitted.network_[0].out_features == 2 * width


def test_unknown_features():
    with pytest.raises(ConfigurationError, match="'prelogits' or 'evidence'; got 'pixels'"):
        Colander(features="pixels").fit(*right_and_wrong(100))


@pytest.mark.parametrize(("per_class", "n"), [(True, 4), (False, 1)])
def test_learned_thresholds_are_kept_for_inspection(per_class, n):
    assert Colander(per_class=per_class, epochs=3).fit(*right_and_wrong(100)).thresholds_.shape == (n,)


def test_the_printed_form_with_mini_batches():
    outputs, y = right_and_wrong(300)
    printed = Colander(
        anchor=None, alpha=1.0, batch_size=64, learning_rate=0.01, weight_decay=0.01, cosine_period=100,
        early_stopping=None, epochs=20, standardise=False,
    )  # fmt: skip
    scores = printed.fit(outputs, y).score(outputs)
    assert np.isfinite(scores).all()
    assert np.ptp(scores) > 0


def test_any_scale_of_the_features_will_do():
    outputs, y = right_and_wrong(400)
    stretched = ls.Outputs(outputs.logits, 1e4 * outputs.features - 5e4)
    plain, scaled = Colander().fit(outputs, y).score(outputs), Colander().fit(stretched, y).score(stretched)
    assert np.corrcoef(plain, scaled)[0, 1] > 0.99


def test_scrambling_the_labels_of_the_threshold_split_does_not_change_g(blobs):
    x, y = blobs

    def first_round(labels):
        return ls.autolabel(
            x, ls.SimulatedAnnotator(labels), classes=3, train_budget=60, validation_budget=120, max_rounds=1,
            classifier="logistic", confidence="colander", progress=False, thresholds="paper",
        )  # fmt: skip

    run = first_round(y)
    (threshold_points,) = (e.points for e in run.ledger if isinstance(e, Assigned) and e.role is Role.THRESHOLD)
    scrambled = y.copy()
    scrambled[threshold_points] = (y[threshold_points] + 1) % 3
    again = first_round(scrambled)
    before, after = run.rounds[0].held_out, again.rounds[0].held_out
    np.testing.assert_array_equal(before.scores, after.scores)
    assert before.correct.mean() > 0.5 > after.correct.mean()
