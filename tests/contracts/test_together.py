"""Fitted together or alone: the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from labelsieve import registry
from labelsieve.classifiers import TorchClassifier
from labelsieve.classifiers.training.crl import CRL
from labelsieve.classifiers.training.fmfp import FMFP
from labelsieve.confidence import Colander, Temperature
from labelsieve.engine.requests import FitConfidence, TrainClassifier
from labelsieve.engine.together import fit_together
from labelsieve.errors import CalibrationWarning, SmallerBatchWarning
from labelsieve.types import Outputs
from tests.problems import NETWORKS, quick_classifier, quick_training, striped_images


def training_requests(classifiers) -> list[TrainClassifier]:
    return [
        TrainClassifier(classifier, *striped_images(50, seed=number), n_classes=3, seed=number)
        for number, classifier in enumerate(classifiers)
    ]


def fits_alone(requests):
    return [
        request.perform(lambda _share: None) if isinstance(request, TrainClassifier) else request.perform()
        for request in requests
    ]


@pytest.fixture(autouse=True)
def stacks_whatever_their_size(monkeypatch):
    """On a CPU large networks are fitted one by one, which would make these tests pass for nothing."""
    monkeypatch.setattr(TorchClassifier, "members_at_once", lambda *_: 100)
    monkeypatch.setattr(Colander, "members_at_once", lambda *_: 100)


@pytest.fixture
def stack_sizes(monkeypatch):
    """How many members each stack had."""
    sizes = []
    for kind in (TorchClassifier, Colander, Temperature):
        original = kind._fit_stack.__func__

        def counting(cls, members, *rest, original=original):
            sizes.append(len(members))
            return original(cls, members, *rest)

        monkeypatch.setattr(kind, "_fit_stack", classmethod(counting))
    return sizes


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("training", registry.BUILT_IN["training"])
def test_networks_with_rates_of_their_own(network, training, stack_sizes):
    method = quick_training(training)
    if network == "resnet" or method.wants_unlabelled:
        pytest.skip("draws and keeps more than weights while it trains, and is trained alone: see below")
    requests = training_requests(
        quick_classifier(network).with_training(method).set_params(learning_rate=rate, weight_decay=decay, epochs=2)
        for rate, decay in ((0.01, 0.001), (0.02, 0.01), (0.01, 0.001))
    )
    together = fit_together(requests)
    assert stack_sizes == [3]
    x, _ = striped_images(60, seed=9)
    for one, other in zip(together, fits_alone(requests), strict=True):
        np.testing.assert_allclose(one.outputs(x).logits, other.outputs(x).logits, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "methods", [[CRL(rank_weight=0.1), CRL(rank_weight=5.0)], [FMFP(radius=0.01), FMFP(radius=1.0)]], ids=str
)
def test_train_time_parameters_of_their_own(methods, stack_sizes):
    requests = training_requests(quick_classifier("linear").with_training(method) for method in methods)
    together = fit_together(requests)
    assert stack_sizes == [2]
    x, _ = striped_images(60, seed=9)
    for one, other in zip(together, fits_alone(requests), strict=True):
        np.testing.assert_allclose(one.outputs(x).logits, other.outputs(x).logits, rtol=1e-4, atol=1e-5)
    differ = fit_together(training_requests([requests[0].classifier]))[0], together[0]
    np.testing.assert_allclose(differ[0].outputs(x).logits, differ[1].outputs(x).logits, rtol=1e-4, atol=1e-5)


def test_what_cannot_be_one_is_kept_apart(stack_sizes):
    requests = training_requests(
        [
            quick_classifier("linear"),
            quick_classifier("linear").set_params(epochs=3),
            quick_classifier("mlp"),
            quick_classifier("linear").with_training(FMFP(averages_from=0.5)),
            quick_classifier("linear").with_training(FMFP(averages_from=None)),
            registry.create("classifier", "logistic"),
            quick_classifier("linear"),
        ]
    )
    together = fit_together(requests)
    assert sorted(stack_sizes) == [1, 1, 1, 1, 2]
    x, _ = striped_images(60, seed=9)
    for one, other in zip(together, fits_alone(requests), strict=True):
        np.testing.assert_allclose(one.outputs(x).logits, other.outputs(x).logits, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "alone",
    [
        quick_classifier("resnet"),
        quick_classifier("linear").set_params(augment=True),
        quick_classifier("linear").set_params(average_decay=0.9),
        quick_classifier("linear").with_training(quick_training("semi-supervised")),
    ],
    ids=["resnet", "augmented", "averaged", "semi-supervised"],
)
def test_what_draws_or_keeps_more_than_weights_while_it_trains_is_trained_alone(alone, stack_sizes):
    requests = training_requests([alone, alone])
    if alone.unlabelled_wanted:
        requests = [replace(request, unlabelled=striped_images(40, seed=7)[0]) for request in requests]
    together = fit_together(requests)
    assert sum(stack_sizes) in (0, 2)  # one by one, or past the stacks altogether
    assert 2 not in stack_sizes
    for one, other in zip(together, fits_alone(requests), strict=True):
        assert one.fingerprint() == other.fingerprint()


def calibration(seed: int, n: int = 90) -> tuple[Outputs, np.ndarray]:
    """Outputs of a classifier that is surer where it is right."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    strength = rng.uniform(0, 3, size=n)
    logits = rng.normal(size=(n, 3))
    logits[np.arange(n), y] += strength
    return Outputs(logits, rng.normal(size=(n, 4)) + strength[:, None]), y


def confidence_requests(functions, shared: bool) -> list[FitConfidence]:
    common = calibration(0)
    return [
        FitConfidence(function, *(common if shared else calibration(number)), seed=number % 2)
        for number, function in enumerate(functions)
    ]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"early_stopping": None, "epochs": 20},
        {"early_stopping": None, "epochs": 5, "batch_size": 16, "anchor": None},
        {"patience": 2, "per_class": False, "features": "logits"},
    ],
    ids=str,
)
def test_colander(settings, shared, stack_sizes):
    functions = [
        Colander(alpha=alpha, penalty=penalty, learning_rate=rate, weight_decay=decay, **settings)
        for alpha, penalty, rate, decay in (
            (1, 5, 0.01, 0.1),
            (10, 5, 0.01, 0.1),
            (10, 50, 0.001, 0.1),
            (10, 5, 0.1, 0),
        )
    ]
    requests = confidence_requests(functions, shared)
    together = fit_together(requests)
    assert stack_sizes == [4]
    unseen, _ = calibration(99)
    for one, other in zip(together, fits_alone(requests), strict=True):
        np.testing.assert_allclose(one.score(unseen), other.score(unseen), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(one.thresholds_, other.thresholds_, rtol=1e-3, atol=1e-4)


def test_temperature_by_adam(stack_sizes):
    functions = [Temperature(solver="adam", learning_rate=rate, epochs=20) for rate in (0.1, 0.01, 0.1)]
    requests = confidence_requests(functions, shared=False)
    together = fit_together(requests)
    assert stack_sizes == [3]
    for one, other in zip(together, fits_alone(requests), strict=True):
        assert one.temperature_ == pytest.approx(other.temperature_, rel=1e-9)


SIZES = (90, 65, 47, 90, 48)
"""Batches of 16 leave single points, which join the batch before, and parts of batches; or nothing."""
RATES = (0.01, 0.1, 0.01, 0.01, 0.1)


@pytest.mark.parametrize("anchor", ["temperature", None])
@pytest.mark.parametrize("per_class", [True, False])
def test_colander_with_different_numbers_of_points(anchor, per_class, stack_sizes):
    requests = [
        FitConfidence(
            Colander(
                alpha=alpha, learning_rate=rate, anchor=anchor, per_class=per_class,
                early_stopping=None, epochs=12, cosine_period=10, batch_size=16,
            ),
            *calibration(number, n),
            seed=number,
        )
        for number, (n, alpha, rate) in enumerate(zip(SIZES, (1, 10, 10, 1, 10), RATES, strict=True))
    ]  # fmt: skip
    together = fit_together(requests)
    assert stack_sizes == [len(SIZES)]
    unseen, _ = calibration(99)
    for one, other in zip(together, fits_alone(requests), strict=True):
        np.testing.assert_allclose(one.score(unseen), other.score(unseen), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(one.thresholds_, other.thresholds_, rtol=1e-3, atol=1e-4)


def test_colander_that_watches_every_epoch_is_stacked_with_as_many_points_only(stack_sizes):
    fit_together([FitConfidence(Colander(epochs=3), *calibration(number, n), seed=0) for number, n in enumerate(SIZES)])
    assert sorted(stack_sizes) == [1, 1, 1, 2]


@pytest.mark.parametrize("epochs", [0, 5])
def test_colander_with_different_numbers_of_points_some_of_them_shared(epochs, stack_sizes):
    sets = [calibration(0, 90), calibration(1, 60)]
    requests = [
        FitConfidence(
            Colander(alpha=alpha, weight_decay=decay, early_stopping=None, epochs=epochs, batch_size=16),
            *points,
            seed=0,
        )
        for points in sets
        for alpha, decay in ((1, 0.0), (10, 1.0))
    ]
    together = fit_together(requests)
    assert stack_sizes == [4]
    unseen, _ = calibration(99)
    for one, other in zip(together, fits_alone(requests), strict=True):
        np.testing.assert_allclose(one.score(unseen), other.score(unseen), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["few first", "many first"])
def test_members_with_far_fewer_points_are_stacked_among_themselves(order, monkeypatch):
    stacks = []

    def counting(cls, members, outputs, ys):
        stacks.append(sorted(map(len, ys)))

    monkeypatch.setattr(Temperature, "_fit_stack", classmethod(counting))
    sizes = (20, 30, 35, 80, 90, 100)[order]
    fit_together([FitConfidence(Temperature(solver="adam"), *calibration(n, n), seed=0) for n in sizes])
    assert sorted(stacks) == [[20, 30, 35], [80, 90, 100]]


def test_temperature_by_full_batches_is_stacked_with_as_many_points_only(stack_sizes):
    full = Temperature(solver="adam", epochs=5, batch_size=None)
    fit_together([FitConfidence(full, *calibration(number, n), seed=0) for number, n in enumerate((60, 60, 90))])
    assert sorted(stack_sizes) == [1, 2]


def test_labels_and_logits_may_lie_as_they_like():
    outputs, y = calibration(0)
    function = Temperature(solver="adam", epochs=5, batch_size=16, random_state=0)
    frozen = y[::-1]
    frozen.setflags(write=False)
    turned = clone(function).fit(Outputs(outputs.logits[::-1], outputs.features), frozen)
    plain = clone(function).fit(Outputs(outputs.logits[::-1].copy(), outputs.features), y[::-1].copy())
    assert turned.temperature_ == plain.temperature_


def test_temperature_with_different_numbers_of_points(stack_sizes):
    requests = [
        FitConfidence(
            Temperature(solver="adam", learning_rate=rate, epochs=12, batch_size=16),
            *calibration(number, n),
            seed=number,
        )
        for number, (n, rate) in enumerate(zip(SIZES, RATES, strict=True))
    ]
    together = fit_together(requests)
    assert stack_sizes == [len(SIZES)]
    for one, other in zip(together, fits_alone(requests), strict=True):
        assert one.temperature_ == pytest.approx(other.temperature_, rel=1e-5)


def test_a_member_with_nothing_to_learn_from_falls_back_and_leaves_the_others_alone():
    (outputs, y), (sure, _) = calibration(0), calibration(1)
    requests = [
        FitConfidence(Colander(epochs=3), outputs, y, 0),
        FitConfidence(Colander(epochs=3), sure, sure.predicted, 1),
    ]
    with pytest.warns(CalibrationWarning, match="right on all 90"):
        learned, fallen_back = fit_together(requests)
    assert learned.fallback_ is None
    assert fallen_back.fallback_ is not None
    np.testing.assert_allclose(fallen_back.score(outputs), outputs.probabilities.max(axis=1))


def test_out_of_memory_makes_the_stacks_smaller_and_says_so(monkeypatch):
    """A device with room for two members."""
    import torch

    original = TorchClassifier._fit_stack.__func__

    def crowded(cls, members, *rest):
        if len(members) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return original(cls, members, *rest)

    monkeypatch.setattr(TorchClassifier, "_fit_stack", classmethod(crowded))
    requests = training_requests(quick_classifier("linear") for _ in range(4))
    with pytest.warns(SmallerBatchWarning, match="with 4 fits at once; going on with 2"):
        together = fit_together(requests)
    x, _ = striped_images(60, seed=9)
    for one, other in zip(together, fits_alone(requests), strict=True):
        np.testing.assert_allclose(one.outputs(x).logits, other.outputs(x).logits, rtol=1e-4, atol=1e-5)


def test_other_errors_are_raised_and_not_retried(monkeypatch):
    def broken(cls, *rest):
        raise RuntimeError("something else")

    monkeypatch.setattr(TorchClassifier, "_fit_stack", classmethod(broken))
    with pytest.raises(RuntimeError, match="something else"):
        fit_together(training_requests(quick_classifier("linear") for _ in range(3)))
