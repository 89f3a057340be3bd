"""What every classifier must do. A new one needs a subclass that says how to make it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from torch import nn

import labelsieve as ls
from labelsieve import registry
from labelsieve.classifiers import SklearnClassifier, TorchClassifier
from labelsieve.classifiers.base import Classifier
from labelsieve.errors import ConfigurationError, NotFittedError
from tests.problems import quick_classifier, quick_training, striped_images


@pytest.fixture(scope="class")
def fitted(request):
    x, y = striped_images(120)
    return request.cls().make().fit(x, y, 5, seed=1)


class ClassifierContract:
    """Subclass and say how to ``make`` one."""

    def make(self) -> Classifier:
        raise NotImplementedError

    def test_learns(self, fitted):
        x, y = striped_images(200, seed=9)
        assert (fitted.outputs(x).predicted == y).mean() > 0.8

    def test_outputs_have_a_column_per_class_seen_or_not(self, fitted):
        outputs = fitted.outputs(striped_images(30)[0])
        assert outputs.logits.shape == (30, 5)
        assert outputs.features.shape[0] == 30
        assert np.isfinite(outputs.logits).all()
        assert np.isfinite(outputs.features).all()
        # The classes 3 and 4 had no training point: softmax must not favour them.
        assert outputs.probabilities[:, 3:].max() < 0.5

    def test_rows_do_not_depend_on_their_company(self, fitted):
        x = striped_images(40)[0]
        whole, part = fitted.outputs(x), fitted.outputs(x[7:9])
        np.testing.assert_allclose(part.logits, whole.logits[7:9], rtol=1e-4, atol=1e-5)

    def test_same_seed_same_model_and_another_seed_may_differ(self, fitted):
        x, y = striped_images(120)
        again = self.make().fit(x, y, 5, seed=1)
        assert again.fingerprint() == fitted.fingerprint()
        np.testing.assert_array_equal(again.outputs(x).logits, fitted.outputs(x).logits)

    def test_other_labels_other_fingerprint(self, fitted):
        x, y = striped_images(120)
        assert self.make().fit(x, (y + 1) % 3, 5, seed=1).fingerprint() != fitted.fingerprint()

    def test_scale_of_the_inputs_does_not_matter_where_they_are_scaled_inside(self, fitted):
        x, y = striped_images(120)
        if getattr(fitted, "scale_inputs", True) is False:
            pytest.skip("this one takes inputs as they are")
        scaled = self.make().fit(x * 1000.0 - 5e4, y, 5, seed=1)
        assert (scaled.outputs(x * 1000.0 - 5e4).predicted == fitted.outputs(x).predicted).mean() > 0.95

    def test_clones_with_the_same_parameters_and_unfitted(self, fitted):
        copy = clone(fitted)
        assert copy.get_params().keys() == fitted.get_params().keys()
        with pytest.raises(NotFittedError, match="must be fitted"):
            copy.outputs(striped_images(3)[0])

    def test_reports_progress_up_to_one(self):
        x, y = striped_images(40)
        shares: list[float] = []
        self.make().fit(x, y, 3, seed=0, progress=shares.append)
        assert shares == sorted(shares)
        assert shares[-1] == 1.0


class TestLeNet(ClassifierContract):
    def make(self):
        return quick_classifier("lenet").set_params(epochs=15)


class TestCNN(ClassifierContract):
    def make(self):
        return quick_classifier("cnn").set_params(epochs=12)


class TestResNet(ClassifierContract):
    def make(self):
        return quick_classifier("resnet")


class TestAugmentedLeNet(ClassifierContract):
    def make(self):
        return quick_classifier("lenet").set_params(epochs=25, augment=True, average_decay=0.9)


class TestMLP(ClassifierContract):
    def make(self):
        return quick_classifier("mlp")


class TestWideMLP(ClassifierContract):
    def make(self):
        return quick_classifier("mlp-wide")


class TestLinear(ClassifierContract):
    def make(self):
        return quick_classifier("linear")


class TestLogistic(ClassifierContract):
    def make(self):
        return quick_classifier("logistic")


class TestEmbedding(ClassifierContract):
    def make(self):
        return quick_classifier("embedding")


class TestKernel(ClassifierContract):
    def make(self):
        return quick_classifier("kernel")


class TestFeatures(ClassifierContract):
    def make(self):
        return quick_classifier("features")


class TestSemiSupervisedEmbedding(ClassifierContract):
    def make(self):
        return quick_classifier("embedding").with_training(quick_training("semi-supervised"))


class TestSemiSupervisedKernel(ClassifierContract):
    def make(self):
        return quick_classifier("kernel").with_training(quick_training("semi-supervised"))


class TestNaiveBayes(ClassifierContract):
    def make(self):
        return SklearnClassifier(GaussianNB())


class TestForest(ClassifierContract):
    def make(self):
        return SklearnClassifier(RandomForestClassifier(n_estimators=30))


class TwoOutputs(nn.Module):
    def __init__(self, point_shape, n_classes):
        super().__init__()
        self.before = nn.Linear(point_shape[0] * point_shape[1], 16)
        self.last = nn.Linear(16, n_classes)

    def forward(self, x):
        features = self.before(x.flatten(1)).tanh()
        return self.last(features), features


class TestOwnModule(ClassifierContract):
    def make(self):
        return TorchClassifier(TwoOutputs, epochs=10)


def test_every_registered_classifier_has_a_contract():
    networks = (TestLeNet, TestCNN, TestResNet, TestMLP)
    covered = {subclass().make().get_params()["network"].__class__ for subclass in networks}
    assert len(covered) == 4
    assert set(registry.BUILT_IN["classifier"]) == {
        "lenet",
        "cnn",
        "resnet",
        "mlp",
        "mlp-wide",
        "linear",
        "features",
        "logistic",
        "embedding",
        "kernel",
    }


def test_the_papers_cnn_has_5_8_million_parameters_and_lenet_84_features():
    cnn = ls.classifiers.SimpleCNN()((32, 32, 3), 10)
    assert sum(weights.numel() for weights in cnn.parameters()) == 5_851_338
    lenet = ls.classifiers.LeNet5()((28, 28), 10)
    # Convolutions 6 · 26, 16 · 151, 120 · 401; linear 84 · 121 and 10 · 85.
    assert sum(weights.numel() for weights in lenet.parameters()) == 156 + 2416 + 48120 + 10164 + 850


def test_the_residual_network_has_6_6_million_parameters_and_less_for_grey_images():
    def parameters(shape, **settings):
        return sum(weights.numel() for weights in ls.classifiers.ResNet(**settings)(shape, 10).parameters())

    assert parameters((32, 32, 3)) == 6_573_130
    assert parameters((28, 28)) < 6_573_130 / 15
    assert parameters((96, 96, 3)) == parameters((32, 32, 3))
    assert parameters((28, 28), width=64) > 6_500_000


@pytest.mark.parametrize("shape", [(8, 8), (28, 28), (40, 33), (64, 64, 3)])
def test_image_networks_take_images_of_any_size(shape):
    x = np.random.default_rng(0).integers(255, size=(20, *shape)).astype(np.uint8)
    for name in ("lenet", "cnn", "resnet"):
        outputs = quick_classifier(name).set_params(epochs=1).fit(x, np.arange(20) % 2, 2, seed=0).outputs(x)
        assert outputs.logits.shape == (20, 2)


@pytest.mark.parametrize("name", ["cnn", "resnet"])
def test_networks_that_halve_images_refuse_small_ones(name):
    with pytest.raises(ConfigurationError, match=f"'{name}' needs images of at least 8 × 8.*got 7 × 9"):
        quick_classifier(name).check(np.ones((2, 7, 9)), 2)


@pytest.mark.parametrize("name", ["lenet", "resnet"])
def test_image_networks_refuse_features(name):
    with pytest.raises(ConfigurationError, match="needs images"):
        quick_classifier(name).fit(np.ones((4, 3)), np.array([0, 1, 0, 1]), 2, seed=0)


def test_a_module_without_features_is_told_what_to_return():
    classifier = TorchClassifier(lambda shape, k: nn.Sequential(nn.Flatten(), nn.Linear(shape[0], k)), epochs=1)
    with pytest.raises(ConfigurationError, match="must return two tensors"):
        classifier.fit(np.random.default_rng(0).normal(size=(8, 3)), np.arange(8) % 2, 2, seed=0)


class WithDropoutAndBatchNorm(TwoOutputs):
    def __init__(self, point_shape, n_classes):
        super().__init__(point_shape, n_classes)
        self.noise, self.norm = nn.Dropout(0.5), nn.BatchNorm1d(16)

    def forward(self, x):
        features = self.norm(self.noise(self.before(x.flatten(1)).tanh()))
        return self.last(features), features


class TestModuleThatDrawsWhileTraining(ClassifierContract):
    def make(self):
        return TorchClassifier(WithDropoutAndBatchNorm, epochs=20)


def test_a_last_batch_of_one_point_does_not_stop_batch_norm():
    x, y = striped_images(33)
    fitted = TorchClassifier(WithDropoutAndBatchNorm, epochs=2, batch_size=32).fit(x, y, 3, seed=0)
    assert np.isfinite(fitted.outputs(x).logits).all()


@pytest.mark.parametrize("name", ["logistic", "mlp"])
def test_a_feature_on_a_large_scale_does_not_drown_the_others(name):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    useful, noise = 2.0 * y + rng.normal(size=400), 1e4 * rng.normal(size=(400, 3))
    time_stamp = 1.7e9 + 10 * y + rng.normal(size=400)
    for columns in (np.c_[useful, noise], np.c_[time_stamp, noise]):
        fitted = quick_classifier(name).fit(columns[:200], y[:200], 2, seed=0)
        assert (fitted.outputs(columns[200:]).predicted == y[200:]).mean() > 0.75


def test_a_network_that_diverges_says_so():
    x, y = striped_images(60)
    with pytest.raises(ConfigurationError, match=r"training diverged\. Lower its learning rate"):
        quick_classifier("mlp").set_params(learning_rate=1e12).fit(x, y, 3, seed=0).outputs(x)


def test_training_leaves_the_global_generators_alone():
    import torch

    torch.manual_seed(5)
    np_state, expected = np.random.get_state()[1].copy(), torch.rand(3)  # noqa: NPY002
    torch.manual_seed(5)
    x, y = striped_images(40)
    quick_classifier("mlp").fit(x, y, 3, seed=0)
    assert torch.equal(torch.rand(3), expected)
    np.testing.assert_array_equal(np.random.get_state()[1], np_state)  # noqa: NPY002
