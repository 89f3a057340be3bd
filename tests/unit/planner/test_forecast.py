"""Scenarios, coverage and audits that the forecast is made of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from labelsieve.bounds import anytime_evidence
from labelsieve.planner.auditing import audit_need
from labelsieve.planner.coverage import kept, kept_in_hindsight
from labelsieve.planner.pilot import Pilot
from labelsieve.planner.scenarios import area_under_curve, assumed, band_errors, resampled
from labelsieve.planner.settings import checked
from labelsieve.thresholds import CertifiedRule


def rng(seed=0):
    return np.random.default_rng(seed)


class TestScenarios:
    @pytest.mark.parametrize(("accuracy", "auroc"), [(0.9, 0.9), (0.7, 0.8), (0.6, 0.5), (0.8, 0.3)])
    def test_bands_match_a_sample(self, accuracy, auroc):
        right = rng().random(400_000) < accuracy
        gap = math.sqrt(2) * {0.9: 1.2815516, 0.8: 0.8416212, 0.5: 0.0, 0.3: -0.5244005}[auroc]  # normal quantiles
        scores = rng(1).normal(size=len(right)) + gap * right
        assert area_under_curve(scores, right) == pytest.approx(auroc, abs=0.005)
        drawn = 1 - right[np.argsort(-scores)].reshape(20, -1).mean(axis=1)
        np.testing.assert_allclose(band_errors(accuracy, auroc, 20), drawn, atol=0.015)

    def test_bands_average_to_the_error(self):
        assert band_errors(0.83, 0.87, 20).mean() == pytest.approx(0.17)
        assert (band_errors(1.0, 0.9, 20) == 0).all()

    def test_surer_bands_are_better(self):
        assert (np.diff(band_errors(0.8, 0.9, 20)) > 0).all()

    def test_area_under_curve_by_hand(self):
        # 3 right, 2 wrong: 0.9 beats both, 0.5 ties one and beats one, 0.2 beats none: 3.5 of 6 pairs.
        scores, right = np.array([0.9, 0.5, 0.2, 0.5, 0.3]), np.array([1, 1, 1, 0, 0], dtype=bool)
        assert area_under_curve(scores, right) == pytest.approx((3.5 + 0.5) / 7)
        assert area_under_curve(scores, np.ones(5, dtype=bool)) is None

    def test_a_pilot_without_errors_does_not_promise_none(self):
        bands = resampled(Pilot(np.linspace(0, 1, 50), np.ones(50, dtype=bool)), 20, rng())
        assert bands.mean() == pytest.approx(0.5 / 51)

    def test_larger_pilots_say_more(self):
        def spread(n):
            right = rng(2).random(n) < 0.85
            pilot = Pilot(rng(3).normal(size=n) + 1.5 * right, right)
            return kept_in_hindsight(resampled(pilot, 20, rng()), 0.05).std()

        assert spread(4000) < spread(400) < spread(40)


def settings_for(tolerance=0.05, delta=0.05, candidates=None):
    return checked(
        pool_size=100_000, classes=10, tolerance=tolerance, delta=delta, candidates=candidates, train_budget=None,
        validation_budget=None, budget=None, price=None, minutes=None, random_state=0,
    )  # fmt: skip


class TestCoverage:
    @pytest.mark.parametrize(
        ("accuracy", "auroc", "validation", "rest"),
        [(0.9, 0.9, 500, 3000), (0.8, 0.92, 800, 10_000), (0.97, 0.9, 150, 1500), (0.95, 0.9, 700, 400)],
    )
    @pytest.mark.parametrize("candidates", [None, 30])
    def test_it_is_what_the_rule_lets_through(self, accuracy, auroc, validation, rest, candidates):
        """Means over 400 runs, most of which end anywhere between nothing and everything: within 5 points."""
        gap, total, shares = math.sqrt(2) * ndtri(auroc), validation + rest, []
        bands = np.tile(band_errors(accuracy, auroc, 200), (2000, 1))
        expected = kept_in_hindsight(bands, 0.05)[0]
        rule = CertifiedRule(0.05, 0.05, candidates)
        for seed in range(400):
            right = rng(seed).random(total) < accuracy
            scores = rng(10_000 + seed).normal(size=total) + gap * right
            predicted = np.zeros(total, dtype=int)
            thresholds = rule.estimate(
                scores[:validation], predicted[:validation], right[:validation], 2, pool_scores=scores[validation:],
                pool_predicted=predicted[validation:], expected_coverage=expected,
            )  # fmt: skip
            shares.append((scores[validation:] >= thresholds[0]).mean())
        forecast = kept(settings_for(candidates=candidates), bands, validation, rest, rng(1))
        assert forecast.mean() == pytest.approx(np.mean(shares), abs=0.05)
        assert (forecast == 0).mean() == pytest.approx((np.array(shares) == 0).mean(), abs=0.05)

    @pytest.mark.parametrize("points", [236, 1000, 3464, 10**6])
    def test_coverage_begins_with_the_fewest_labels(self, points):
        perfect = np.zeros((3, 20))
        assert (kept(settings_for(), perfect, 117, points - 117, rng()) == 0).all()
        assert (kept(settings_for(), perfect, 118, points - 118, rng()) == 1).all()

    def test_rarely_above_hindsight(self):
        """Only where a validation set happens to look good, which delta allows."""
        bands = assumed((0.7, 0.95), 200, rng())
        best = kept_in_hindsight(bands, 0.05)
        assert (kept(settings_for(), bands, 1000, 50_000, rng(1)) > best + 0.01).mean() < 0.05

    def test_more_validation_and_tolerance_keep_more(self):
        bands = assumed((0.7, 0.95), 20, rng())
        sizes = [kept(settings_for(), bands, n, 50_000, rng(1)).mean() for n in (100, 300, 1000, 5000)]
        assert sizes == sorted(sizes)
        assert sizes[0] < sizes[-1] < kept_in_hindsight(bands, 0.05).mean()
        shares = [kept_in_hindsight(bands, e).mean() for e in (0.01, 0.05, 0.1)]
        assert shares == sorted(shares)

    def test_hindsight_by_hand(self):
        bands = np.array([[0.0, 0.1, 0.0, 0.4], [0.2, 0.0, 0.0, 0.0], [0.2, 0.2, 0.2, 0.2]])
        assert kept_in_hindsight(bands, 0.05).tolist() == [0.75, 1.0, 0.0]


class TestAudit:
    settings = settings_for()

    @pytest.mark.parametrize("machine", [500, 2000, 40_000])
    def test_without_errors_it_is_the_first_that_settles_it(self, machine):
        n = np.arange(1, machine + 1)
        first = n[(anytime_evidence(0 * n, n, machine, 0.05) >= math.log(20)).argmax()]
        need = audit_need(machine, 0.0, self.settings)
        assert first <= need.expected == need.nine_in_ten <= 1.02 * first

    def test_more_errors_take_longer(self):
        counts = [audit_need(20_000, part, self.settings).expected for part in (0.0, 1 / 3, 1 / 2, 0.9)]
        assert counts == sorted(counts)
        assert counts[0] < 100 < counts[1] < 400 < counts[2] < 1000 < counts[3] <= 20_000

    def test_a_simulated_audit_takes_as_long(self):
        """Against plain shuffles looked at after every label."""
        wrong, stops = np.arange(5000) < round(5000 * 0.05 / 3), []
        for seed in range(200):
            found = rng(seed).permutation(wrong).cumsum()
            n = np.arange(1, 5001)
            stops.append(n[(anytime_evidence(found, n, 5000, 0.05) >= math.log(20)).argmax()])
        need = audit_need(5000, 1 / 3, self.settings)
        assert need.expected == pytest.approx(np.mean(stops), rel=0.25)
        assert (np.array(stops) <= need.nine_in_ten).mean() == pytest.approx(0.9, abs=0.07)

    @pytest.mark.parametrize("machine", [0, 1, 7])
    def test_hardly_any_machine_labels(self, machine):
        assert audit_need(machine, 1 / 3, self.settings).expected == machine
