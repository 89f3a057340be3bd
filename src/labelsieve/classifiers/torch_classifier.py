"""Networks as classifiers."""

from __future__ import annotations

import copy
import hashlib
import warnings
from collections.abc import Hashable, Sequence

import numpy as np
import torch
from sklearn.base import clone
from torch import nn

from labelsieve.classifiers.augmentation import views
from labelsieve.classifiers.base import Classifier, Progress
from labelsieve.classifiers.networks import NetworkFactory, SimpleCNN
from labelsieve.classifiers.scaling import InputScaler
from labelsieve.classifiers.stacked_cnn import convolutions_stack
from labelsieve.classifiers.torch_fitting import DrawUnlabelled, Recipe, logits_and_features, train
from labelsieve.classifiers.training.base import LearnsFromUnlabelled, TrainTimeMethod
from labelsieve.classifiers.training.vanilla import Vanilla
from labelsieve.errors import ConfigurationError, SmallerBatchWarning
from labelsieve.fitting.devices import check_precision, kernels, members_that_pay, own_randomness, resolve_device
from labelsieve.fitting.members import OptimiserSettings, neighbours_first
from labelsieve.fitting.turns import MOST_AT_ONCE
from labelsieve.types import Array, Ints, Outputs

_TYPES_OF_TORCH = [np.dtype(name) for name in ("u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "?")]


class TorchClassifier(Classifier):
    """A network trained from scratch by SGD with momentum and a cosine schedule.

    ``network`` builds a module for (shape of one point, number of classes); its forward returns logits and the
    layer before them. Training data stay on the device; batches are rows of one tensor. ``precision``: ``"full"`` for
    single precision, or on a GPU ``"tf32"`` or ``"bf16"``, faster and less exact (docs/performance.md). ``augment``
    shows images in another place each time, colour ones also mirrored and with a piece cut out; such a network says of
    a colour image the mean over six views of it, mirrored and shifted. ``average_decay`` predicts with a moving average
    of the weights, of which that much stays at each step. ``min_steps`` makes as many epochs more as it takes.
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
        precision: str = "full",
        nesterov: bool = False,
        augment: bool = False,
        average_decay: float | None = None,
        min_steps: int = 0,
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
        self.precision = precision
        self.nesterov = nesterov
        self.augment = augment
        self.average_decay = average_decay
        self.min_steps = min_steps

    @property
    def unlabelled_wanted(self) -> int:
        return self.training.n_unlabelled if isinstance(self.training, LearnsFromUnlabelled) else 0

    @property
    def _augments(self) -> bool:
        """Whether it sees points changed at random while it trains."""
        return self.augment or self.unlabelled_wanted > 0

    def with_training(self, method: TrainTimeMethod) -> TorchClassifier:
        copied: TorchClassifier = clone(self).set_params(training=method)
        return copied

    def check(self, x: Array, n_classes: int) -> None:
        check_precision(self.precision)
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
        self._fit_stack([self], [x], [y], n_classes, [seed], progress)

    def _fit_with_unlabelled(
        self, x: Array, y: Ints, unlabelled: Array, n_classes: int, seed: int, progress: Progress
    ) -> None:
        if not self.unlabelled_wanted:
            return super()._fit_with_unlabelled(x, y, unlabelled, n_classes, seed, progress)
        self._prepare(x, n_classes, seed)
        raw = self._raw_tensor(unlabelled)

        def draw(n: int) -> torch.Tensor:
            return self._network_input(raw[torch.randint(len(raw), (n,), device=raw.device)])

        self._train([self], [x], [y], n_classes, [seed], progress, draw)

    def stack_key(self, x: Array, n_classes: int) -> Hashable:
        if not self._stackable():
            return None
        method = self.training or Vanilla()
        shared = [(name, value) for name, value in method.get_params().items() if name not in method.per_member]
        recipe = (self.epochs, self.batch_size, self.cosine_period, self.min_steps, self.device, self.precision)
        return (type(self), self.network, x.shape, n_classes, *recipe, type(method), *shared)

    def members_at_once(self, x: Array, n_classes: int) -> int:
        device, takes_turns = resolve_device(self.device), self._takes_turns(x.shape[1:])
        if takes_turns and device.type == "cpu":
            return 1
        with own_randomness(0, torch.device("cpu")):
            weights = sum(w.numel() for w in self.network(tuple(x.shape[1:]), n_classes).parameters())
        pay = members_that_pay(4 * weights, 4 * int(np.prod(x.shape)), device)
        return min(pay, MOST_AT_ONCE) if takes_turns else pay

    @classmethod
    def _fit_stack(
        cls,
        members: Sequence[TorchClassifier],
        xs: Sequence[Array],
        ys: Sequence[Ints],
        n_classes: int,
        seeds: Sequence[int],
        progress: Progress,
    ) -> None:
        settings = [member._optimiser_settings() for member in members]
        _, members, xs, ys, seeds = neighbours_first(settings, members, xs, ys, seeds)
        for member, x, seed in zip(members, xs, seeds, strict=True):
            member._prepare(x, n_classes, seed)
        cls._train(members, xs, ys, n_classes, seeds, progress)

    def _prepare(self, x: Array, n_classes: int, seed: int) -> None:
        """What training starts from."""
        self.device_ = resolve_device(self.device)
        self.scaler_ = InputScaler(x)
        self.module_ = self._build(tuple(x.shape[1:]), n_classes, seed)

    @staticmethod
    def _train(
        members: Sequence[TorchClassifier],
        xs: Sequence[Array],
        ys: Sequence[Ints],
        n_classes: int,
        seeds: Sequence[int],
        progress: Progress,
        draw_unlabelled: DrawUnlabelled | None = None,
    ) -> None:
        """Members that are prepared, those with the same settings of the optimiser side by side."""
        first = members[0]
        train(
            [member.module_ for member in members],
            torch.stack([member._to_tensor(x) for member, x in zip(members, xs, strict=True)]),
            torch.from_numpy(np.stack(ys)).to(first.device_),
            n_classes,
            [member.training or Vanilla() for member in members],
            [member._optimiser_settings() for member in members],
            seeds,
            Recipe(
                epochs=first.epochs,
                batch_size=first.batch_size,
                cosine_period=first.cosine_period,
                precision=first.precision,
                device=first.device_,
                repeats_exactly=first._recordable(),
                takes_turns=first._takes_turns(xs[0].shape[1:]),
                stacks_convolutions=first._stacks_convolutions(xs[0].shape[1:]),
                channels_last=first.precision == "bf16" and getattr(first.network, "channels_last", False),
                augment=first._augments,
                average_decay=first.average_decay,
                min_steps=first.min_steps,
            ),
            progress,
            draw_unlabelled,
        )

    def _optimiser_settings(self) -> OptimiserSettings:
        return OptimiserSettings(self.learning_rate, self.weight_decay, self.momentum, self.nesterov)

    def _recordable(self) -> bool:
        of_network = getattr(self.network, "recordable", getattr(self.network, "stackable", False))
        return of_network and (self.training or Vanilla()).recordable

    def _takes_turns(self, point_shape: tuple[int, ...]) -> bool:
        return getattr(self.network, "takes_turns", False) and not self._stacks_convolutions(point_shape)

    def _stacks_convolutions(self, point_shape: tuple[int, ...]) -> bool:
        device = resolve_device(self.device)
        return type(self.network) is SimpleCNN and convolutions_stack(device, self.precision, point_shape)

    def _stackable(self) -> bool:
        """Whether nothing is drawn or kept beside the weights while it trains: only then can members be one."""
        draws = self._augments or self.average_decay is not None
        return getattr(self.network, "stackable", False) and not draws

    @torch.inference_mode()
    def _outputs(self, x: Array) -> Outputs:
        with kernels(self.precision, self.device_):
            parts = self._in_parts(self._raw_tensor(x), self.scoring_batch)
        logits = torch.cat([part[0] for part in parts]).float().cpu().numpy()
        features = torch.cat([part[1] for part in parts]).float().flatten(1).cpu().numpy()
        return Outputs(logits, features)

    def _in_parts(self, raw: torch.Tensor, size: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Logits and features of so many points at a time, or of fewer where the device has no room for them."""
        try:
            return [self._logits_and_features(self._network_input(part)) for part in torch.split(raw, size)]
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        warnings.warn(
            f"The device ran out of memory with {size} points at once; going on with {size // 2}. "
            "A smaller scoring_batch avoids this.",
            SmallerBatchWarning,
            stacklevel=2,
        )
        return self._in_parts(raw, size // 2)

    def _logits_and_features(self, points: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean over what the network says of a point and of its likes, if it has learned from such."""
        said = [logits_and_features(self.module_, view) for view in (views(points) if self._augments else [points])]
        logits, features = (torch.stack(part).float().mean(dim=0) for part in zip(*said, strict=True))
        return logits, features

    def _build(self, point_shape: tuple[int, ...], n_classes: int, seed: int) -> nn.Module:
        with own_randomness(seed, self.device_):
            # A copy, so that a factory which hands out one module again and again does not go on training it.
            module = copy.deepcopy(self.network(point_shape, n_classes))
        return module.to(self.device_)

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
