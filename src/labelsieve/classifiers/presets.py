"""The classifiers that go by name, with the paper's settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from labelsieve.classifiers.best_of import BestOf
from labelsieve.classifiers.kernel_regression import KernelRegression
from labelsieve.classifiers.sklearn_classifier import SklearnClassifier

if TYPE_CHECKING:
    from labelsieve.classifiers.torch_classifier import TorchClassifier


def lenet() -> TorchClassifier:
    """LeNet-5, as for MNIST."""
    from labelsieve.classifiers.networks import LeNet5
    from labelsieve.classifiers.torch_classifier import TorchClassifier

    return TorchClassifier(LeNet5(), weight_decay=0.01)


def cnn() -> TorchClassifier:
    """The 5.8 M-parameter network, as for CIFAR-10."""
    from labelsieve.classifiers.networks import SimpleCNN
    from labelsieve.classifiers.torch_classifier import TorchClassifier

    return TorchClassifier(SimpleCNN())


def resnet() -> TorchClassifier:
    """A residual network for images of 28 to 96 pixels, with what makes few labels go far: images shifted and mirrored,
    a piece of colour ones cut out, Nesterov's momentum, a cosine down to nothing, averaged weights."""
    from labelsieve.classifiers.networks import ResNet
    from labelsieve.classifiers.torch_classifier import TorchClassifier

    return TorchClassifier(
        ResNet(),
        epochs=60,
        batch_size=64,
        learning_rate=0.05,
        nesterov=True,
        weight_decay=0.0005,
        cosine_period=60,
        augment=True,
        average_decay=0.99,
        min_steps=600,
        precision="tf32",
    )


def mlp() -> TorchClassifier:
    """1000-500-30, as for 20 Newsgroups."""
    from labelsieve.classifiers.networks import MLP
    from labelsieve.classifiers.torch_classifier import TorchClassifier

    return TorchClassifier(MLP())


def mlp_wide() -> TorchClassifier:
    """1000-500-300, as for Tiny-ImageNet."""
    from labelsieve.classifiers.networks import MLP
    from labelsieve.classifiers.torch_classifier import TorchClassifier

    return TorchClassifier(MLP(hidden=(1000, 500, 300)))


def linear() -> TorchClassifier:
    """Logistic regression as a network without hidden layers, for train-time methods that need gradients."""
    from labelsieve.classifiers.networks import MLP
    from labelsieve.classifiers.torch_classifier import TorchClassifier

    return TorchClassifier(MLP(hidden=()))


def logistic() -> SklearnClassifier:
    """Multinomial logistic regression on scaled features, regularised for few labels."""
    return SklearnClassifier(LogisticRegression(C=0.1, max_iter=1000), scale_inputs=True)


def embedding() -> SklearnClassifier:
    """Multinomial logistic regression on rows of unit length, for embeddings: their strong directions are those that
    matter, and scaling each column would make all alike."""
    head = make_pipeline(Normalizer(), LogisticRegression(C=10.0, max_iter=1000))
    return SklearnClassifier(head, scale_inputs=False)


def kernel() -> SklearnClassifier:
    """Regression that bends, on rows that are centred and brought to unit length, for embeddings: part of what a linear
    one gets wrong of them it gets wrong because classes lie in several places."""
    head = make_pipeline(StandardScaler(with_std=False), Normalizer(), KernelRegression())
    return SklearnClassifier(head, scale_inputs=False)


def features() -> BestOf:
    """For rows of numbers of which nobody knows whether they are a table or embeddings."""
    return BestOf([logistic(), embedding(), kernel()])
