"""Many runs side by side come out as each would alone."""

from __future__ import annotations

import numpy as np
import pytest

import labelsieve as ls
from labelsieve import registry
from labelsieve.classifiers import MLP, TorchClassifier
from labelsieve.errors import AnnotatorError, ConfigurationError
from tests.problems import quick_training

PAPER = ("softmax", "temperature", "top-label-binning", "scaling-binning", "dirichlet", "colander")
COMMON = {"classes": 3, "train_budget": 60, "validation_budget": 90, "thresholds": "paper"}


@pytest.fixture
def small_network():
    return TorchClassifier(MLP(hidden=(8,)), epochs=10, device="cpu")


@pytest.mark.filterwarnings("ignore::labelsieve.errors.CalibrationWarning")
def test_all_combinations_of_the_paper(blobs, small_network):
    x, y = blobs
    runs = [
        {"training": quick_training(training), "confidence": confidence, "random_state": seed}
        for training in registry.BUILT_IN["training"]
        for confidence in PAPER
        for seed in (0, 1)
    ]
    common = {**COMMON, "classifier": small_network, "progress": False}
    together = ls.autolabel_many(x, ls.SimulatedAnnotator(y), runs, **common)
    for settings, run in zip(runs[::5], together[::5], strict=True):
        alone = ls.autolabel(x, ls.SimulatedAnnotator(y), **common, **settings)
        assert run.stop_reason == alone.stop_reason
        assert run.labels[["id", "label", "source", "role", "round"]].equals(
            alone.labels[["id", "label", "source", "role", "round"]]
        )
        np.testing.assert_allclose(run.labels["confidence"], alone.labels["confidence"], rtol=1e-3, atol=1e-5)


def test_runs_that_need_fewer_steps_in_a_round_train_with_the_others(blobs, small_network, monkeypatch):
    stacks = []
    whole = TorchClassifier._fit_stack.__func__

    def counted(cls, members, *others):
        stacks.append(len(members))
        whole(cls, members, *others)

    monkeypatch.setattr(TorchClassifier, "_fit_stack", classmethod(counted))
    x, y = blobs
    rules = [{"thresholds": "paper"}, {"thresholds": "certified", "validation_budget": 150}]
    common = {**COMMON, "classifier": small_network, "confidence": "softmax", "progress": False}
    together = ls.autolabel_many(x, ls.SimulatedAnnotator(y), rules, **common)
    assert len(stacks) == max(len(run.rounds) for run in together)


def test_runs_of_different_length_and_kind(blobs, small_network):
    x, y = blobs
    runs = [
        {"max_rounds": 1},
        {"max_rounds": 3, "classifier": small_network},
        {"thresholds": "certified", "validation_budget": 150},
        {"query": "coreset", "classifier": small_network},
    ]
    common = {**COMMON, "classifier": "logistic", "progress": False}
    together = ls.autolabel_many(x, ls.SimulatedAnnotator(y), runs, **common)
    for settings, run in zip(runs, together, strict=True):
        alone = ls.autolabel(x, ls.SimulatedAnnotator(y), **{**common, **settings})
        assert run.labels[["id", "label", "round"]].equals(alone.labels[["id", "label", "round"]])
        assert len(run.rounds) == len(alone.rounds)


def test_an_unknown_setting_is_refused_before_anybody_is_asked(blobs):
    def nobody(_ids):
        raise AssertionError("asked")

    with pytest.raises(ConfigurationError, match=r"keywords of autolabel: classes, .*; got 'trainng'"):
        ls.autolabel_many(blobs[0], nobody, [{}, {"trainng": "crl"}], **COMMON)


def test_an_annotator_that_fails_brings_the_ledger_of_its_run(blobs):
    def asleep(_ids):
        raise RuntimeError("asleep")

    with pytest.raises(AnnotatorError, match="asleep") as caught:
        ls.autolabel_many(blobs[0], asleep, [{}, {}], **COMMON)
    assert len(caught.value.ledgers) == 2
    assert len(caught.value.ledger)


def test_a_ledger_belongs_to_one_run(blobs):
    x, y = blobs
    ledger = ls.Ledger()
    for runs, common in (([{}, {}], {"ledger": ledger}), ([{"ledger": ledger}, {"ledger": ledger}], {})):
        with pytest.raises(ConfigurationError, match="a ledger of its own"):
            ls.autolabel_many(x, ls.SimulatedAnnotator(y), runs, **COMMON, **common)
    assert len(ledger) == 0


def test_runs_with_pools_of_their_own(blobs, small_network):
    x, y = blobs
    common = {**COMMON, "classifier": small_network, "progress": False}
    parts = [slice(0, len(x) // 2), slice(len(x) // 2, None)]
    own = [{"pool": x[part], "annotator": ls.SimulatedAnnotator(y[part])} for part in parts]
    for run, part in zip(ls.autolabel_many(None, None, own, **common), parts, strict=True):
        alone = ls.autolabel(x[part], ls.SimulatedAnnotator(y[part]), **common)
        assert run.labels[["id", "label", "round"]].equals(alone.labels[["id", "label", "round"]])
