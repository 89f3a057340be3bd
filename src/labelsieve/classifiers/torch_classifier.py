"""Networks as classifiers."""

from __future__ import annotations

import copy
import hashlib

import numpy as np
import torch
from sklearn.base import clone
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn

from labelsieve.classifiers.base import Classifier, Progress
from labelsieve.classifiers.networks import NetworkFactory
from labelsieve.classifiers.scaling import InputScaler
from labelsieve.classifiers.training.base import OptimiserSettings, TrainTimeMethod
from labelsieve.classifiers.training.vanilla import Vanilla
from labelsieve.errors import ConfigurationError
from labelsieve.fitting.loop import batches, minimise, own_randomness, repeatable_kernels, resolve_device
from labelsieve.types import Array, Ints, Outputs

_TYPES_OF_TORCH = [np.dtype(name) for name in ("u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?")]


class _WeightAverage:
    """The mean of a module's weights at the ends of its last epochs, if a train-time method wants it."""

    def __init__(self, module: nn.Module, start: float | None, epochs: int) -> None:
        self._module = module
        self._first = epochs + 1 if start is None else min(epochs, int(start * epochs) + 1)
        self._average = AveragedModel(module) if start is not None else None

    def after_epoch(self, done: int) -> None:
        if self._average is not None and done >= self._first:
            self._average.update_parameters(self._module)

    def apply(self, points: torch.Tensor, batch_size: int) -> None:
        """Put the average in; batch statistics, where a module keeps them, are counted anew for it."""
        if self._average is not None:
            self._module.load_state_dict(self._average.module.state_dict())
            update_bn(batches(points, batch_size), self._module)


class TorchClassifier(Classifier):
    """A network trained from scratch by SGD with momentum and a cosine schedule.

    ``network`` builds a module for (shape of one point, number of classes); its forward returns logits and the
    layer before them. Training data stay on the device; batches are rows of one tensor.
    """

    def __init__(
        self,
        network: NetworkFactory,
        training: TrainTimeMethod | None = None,
        epochs: int = 50,
        batch_size: int = 32,
        learning_rate: float = 0.01,
        momentum: float = 0.9,
        weight_decay: float = 0.001,
        cosine_period: int = 100,
        device: str = "auto",
        scoring_batch: int = 1024,
    ) -> None:
        self.network = network
        self.training = training
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.cosine_period = cosine_period
        self.device = device
        self.scoring_batch = scoring_batch

    def with_training(self, method: TrainTimeMethod) -> TorchClassifier:
        copied: TorchClassifier = clone(self).set_params(training=method)
        return copied

    def check(self, x: Array, n_classes: int) -> None:
        self.device_ = resolve_device(self.device)
        try:
            module = self._build(tuple(x.shape[1:]), n_classes, seed=0)
        except ConfigurationError:
            raise
        except Exception as error:
            raise ConfigurationError(
                f"network must be a function (point_shape, n_classes) -> torch module; called with "
                f"({tuple(x.shape[1:])}, {n_classes}) it raised {type(error).__name__}: {error}"
            ) from error
        self.scaler_, self.module_ = InputScaler(x), module.eval()
        self._checked(self._outputs(x), n_classes)

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for name, weights in self.module_.state_dict().items():
            digest.update(name.encode())
            digest.update(weights.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:12]

    def _fit(self, x: Array, y: Ints, n_classes: int, seed: int, progress: Progress) -> None:
        self.device_ = resolve_device(self.device)
        self.scaler_ = InputScaler(x)
        self.module_ = self._build(tuple(x.shape[1:]), n_classes, seed)
        points = self._to_tensor(x)
        labels = torch.as_tensor(y, device=self.device_)
        method = self.training or Vanilla()
        loss = method.loss(labels, n_classes)
        average = _WeightAverage(self.module_, method.averages_from, self.epochs)

        def after_epoch(done: int) -> bool:
            average.after_epoch(done)
            progress(done / self.epochs)
            return True

        self.module_.train()
        with own_randomness(seed, self.device_), repeatable_kernels():
            minimise(
                lambda rows: loss(self._forward(points[rows])[0], rows),
                method.optimiser(
                    self.module_.parameters(),
                    OptimiserSettings(self.learning_rate, self.momentum, self.weight_decay),
                ),
                len(points),
                epochs=self.epochs,
                batch_size=self.batch_size,
                cosine_period=self.cosine_period,
                generator=torch.Generator().manual_seed(seed),
                device=self.device_,
                after_epoch=after_epoch,
            )
            average.apply(points, self.batch_size)
        self.module_.eval()

    @torch.inference_mode()
    def _outputs(self, x: Array) -> Outputs:
        raw = self._raw_tensor(x)
        with repeatable_kernels():
            parts = [self._forward(self._network_input(part)) for part in torch.split(raw, self.scoring_batch)]
        logits = torch.cat([part[0] for part in parts]).float().cpu().numpy()
        features = torch.cat([part[1] for part in parts]).float().flatten(1).cpu().numpy()
        return Outputs(logits, features)

    def _build(self, point_shape: tuple[int, ...], n_classes: int, seed: int) -> nn.Module:
        with own_randomness(seed, self.device_):
            # A copy, so that a factory which hands out one module again and again does not go on training it.
            module = copy.deepcopy(self.network(point_shape, n_classes))
        return module.to(self.device_)

    def _forward(self, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        result = self.module_(points)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise ConfigurationError(
                "A network's forward must return two tensors, logits (n, k) and the layer before them (n, d); "
                f"got {type(result).__name__}."
            )
        return result

    def _to_tensor(self, x: Array) -> torch.Tensor:
        """Scaled, channels first, on the device."""
        return self._network_input(self._raw_tensor(x))

    def _raw_tensor(self, x: Array) -> torch.Tensor:
        """The points as they are, on the device; nothing is copied on the CPU if torch knows their type."""
        known = x.dtype in _TYPES_OF_TORCH
        # Torch warns of arrays that must not be written to, although nobody will: those are copied, too.
        return torch.from_numpy(np.require(x, None if known else np.float64, ["C", "W"])).to(self.device_)

    def _network_input(self, raw: torch.Tensor) -> torch.Tensor:
        """Scaled, channels first."""
        scaled = self.scaler_.tensor(raw)
        if scaled.ndim == 3:
            return scaled[:, None]
        return scaled.movedim(3, 1).contiguous() if scaled.ndim == 4 else scaled
