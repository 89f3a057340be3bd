"""Colander: a confidence function learned by maximising coverage under an error penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import nn

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.confidence.surrogate import surrogate_coverage, surrogate_error
from labelsieve.confidence.temperature import inverse_temperature
from labelsieve.errors import ConfigurationError
from labelsieve.fitting.early_stopping import BestEpoch
from labelsieve.fitting.loop import minimise, own_randomness, resolve_device
from labelsieve.types import Floats, Ints, Outputs

_FIRST_THRESHOLD_QUANTILE = 0.3


class Colander(ConfidenceFunction):
    """g(x) = softmax(W₂ tanh(W₁ z))[ŷ], fitted together with thresholds t to minimise −P̃ + λ Ẽ (P3).

    z is the classifier's logits and the layer before them; W₁ has 2 (k + d₂) rows. P̃ and Ẽ are the paper's smooth
    coverage and error with scale ``alpha``; ``penalty`` is λ. The fitted thresholds ``thresholds_`` are for
    inspection: the ones that are used come from the threshold split.

    anchor: ``"temperature"`` puts the temperature-scaled logits inside the softmax, starts W₂ at 0, and lets one more
        output s(z) raise or lower the predicted class alone, g = softmax(logits / T + W₂ tanh(W₁ z) + s(z) · e_ŷ)[ŷ];
        learning then begins at a good score. None is the printed form. docs/methods.md has what each part brings.
    features: ``"concat"`` for z as above, ``"logits"`` or ``"prelogits"`` for one half of it.
    per_class: one threshold per class, or one for all.
    standardise: z to zero mean and unit variance over the calibration points.
    early_stopping: share of the calibration points kept aside to choose the epoch, and ``patience`` the number of
        epochs to wait for a better one; None takes the last epoch. The threshold split is never seen.
    batch_size: None for full batches. The learning rate falls as half a cosine over ``cosine_period`` epochs (all of
        them if None). Thresholds have no weight decay.
    """

    def __init__(
        self,
        alpha: float = 10.0,
        penalty: float = 5.0,
        anchor: Literal["temperature"] | None = "temperature",
        features: Literal["concat", "logits", "prelogits"] = "concat",
        per_class: bool = True,
        standardise: bool = True,
        epochs: int = 500,
        batch_size: int | None = None,
        learning_rate: float = 0.001,
        weight_decay: float = 0.1,
        cosine_period: int | None = None,
        early_stopping: float | None = 0.2,
        patience: int = 10,
        device: str = "auto",
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.anchor = anchor
        self.features = features
        self.per_class = per_class
        self.standardise = standardise
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.cosine_period = cosine_period
        self.early_stopping = early_stopping
        self.patience = patience
        self.device = device
        self.random_state = random_state

    def check_parameters(self) -> None:
        if self.features not in ("concat", "logits", "prelogits"):
            raise ConfigurationError(f"features must be 'concat', 'logits' or 'prelogits'; got {self.features!r}.")
        if self.anchor not in ("temperature", None):
            raise ConfigurationError(f"anchor must be 'temperature' or None; got {self.anchor!r}.")
        if self.early_stopping is not None and not 0 < self.early_stopping < 1:
            raise ConfigurationError(
                f"early_stopping must be a share between 0 and 1, or None; got {self.early_stopping}."
            )
        resolve_device(self.device)

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        device, seed = resolve_device(self.device), self.random_state or 0
        learning, watching = self._split(len(y), seed)
        z = self._inputs(outputs)
        self.centre_, self.spread_ = self._centre_and_spread(z[learning])
        self.beta_ = inverse_temperature(outputs.logits[learning], y[learning]) if self.anchor else 0.0
        self.network_ = self._network(z.shape[1], outputs.logits.shape[1], seed).to(device)
        points = _Points(
            z=torch.as_tensor((z - self.centre_) / self.spread_, dtype=torch.float32, device=device),
            anchor=torch.as_tensor(self.beta_ * outputs.logits, dtype=torch.float32, device=device),
            predicted=torch.as_tensor(outputs.predicted, device=device),
            wrong=torch.as_tensor(outputs.predicted != y, dtype=torch.float32, device=device),
        )
        thresholds = self._first_thresholds(points, outputs.logits.shape[1])
        rows_to_learn = torch.as_tensor(learning, device=device)
        best = BestEpoch([*self.network_.parameters(), thresholds], self.patience)

        def loss(rows: torch.Tensor) -> torch.Tensor:
            predicted = points.predicted[rows]
            confidence = self._confidence(points.anchor[rows], self.network_(points.z[rows]), predicted)
            margins = confidence - (thresholds[predicted] if self.per_class else thresholds)
            coverage = surrogate_coverage(margins, self.alpha)
            return -coverage + self.penalty * surrogate_error(margins, points.wrong[rows], self.alpha)

        def after_epoch(_done: int) -> bool:
            if not len(watching):
                return True
            with torch.no_grad():
                return best.go_on(float(loss(torch.as_tensor(watching, device=device))))

        minimise(
            lambda rows: loss(rows_to_learn[rows]),
            torch.optim.Adam(
                [
                    {"params": list(self.network_.parameters()), "weight_decay": self.weight_decay},
                    {"params": [thresholds], "weight_decay": 0.0},
                ],
                lr=self.learning_rate,
            ),
            len(learning),
            epochs=self.epochs,
            batch_size=self.batch_size,
            cosine_period=self.cosine_period or self.epochs,
            generator=torch.Generator().manual_seed(seed),
            device=device,
            after_epoch=after_epoch,
        )
        if len(watching):
            best.restore()
        self.thresholds_ = thresholds.detach().cpu().numpy()

    @torch.inference_mode()
    def _score(self, outputs: Outputs) -> Floats:
        device = next(self.network_.parameters()).device
        z = torch.as_tensor((self._inputs(outputs) - self.centre_) / self.spread_, dtype=torch.float32, device=device)
        anchor = torch.as_tensor(self.beta_ * outputs.logits, dtype=torch.float64, device=device)
        predicted = torch.as_tensor(outputs.predicted, device=device)
        # The softmax is in double precision, so that near-certain points do not all tie at 1.
        return self._confidence(anchor, self.network_(z).double(), predicted).cpu().numpy()

    def _split(self, n: int, seed: int) -> tuple[Ints, Ints]:
        """Rows to learn from, and rows to choose the epoch by."""
        order = np.random.default_rng(seed).permutation(n)
        n_watching = 0 if self.early_stopping is None else round(self.early_stopping * n)
        return order[n_watching:], order[:n_watching]

    def _inputs(self, outputs: Outputs) -> Floats:
        parts = {"logits": [outputs.logits], "prelogits": [outputs.features]}
        return np.concatenate(parts.get(self.features, [outputs.logits, outputs.features]), axis=1)

    def _centre_and_spread(self, z: Floats) -> tuple[Floats, Floats]:
        if not self.standardise:
            return np.zeros(z.shape[1]), np.ones(z.shape[1])
        spread = z.std(axis=0)
        return z.mean(axis=0), np.where(spread > 1e-6, spread, 1.0)

    def _network(self, width: int, n_classes: int, seed: int) -> nn.Sequential:
        with own_randomness(seed, torch.device("cpu")):
            last = nn.Linear(2 * width, n_classes + 1 if self.anchor else n_classes)
            network = nn.Sequential(nn.Linear(width, 2 * width), nn.Tanh(), last)
        if self.anchor:
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)
        return network

    def _first_thresholds(self, points: _Points, n_classes: int) -> torch.Tensor:
        """Inside the range of the first scores: a threshold that nothing, or everything, exceeds has no gradient."""
        with torch.no_grad():
            scores = self._confidence(points.anchor, self.network_(points.z), points.predicted)
            first = torch.quantile(scores, _FIRST_THRESHOLD_QUANTILE)
        return first.repeat(n_classes if self.per_class else 1).requires_grad_()

    def _confidence(self, anchor: torch.Tensor, learned: torch.Tensor, predicted: torch.Tensor) -> torch.Tensor:
        """g(x)[ŷ] from β · logits and what the network says."""
        n_classes, of_predicted = anchor.shape[1], predicted[:, None]
        logits = anchor + learned[:, :n_classes]
        if self.anchor:
            # A shift of all classes alike cancels in a softmax. This output is where evidence goes that speaks for or
            # against a prediction whatever its class.
            logits = logits.scatter_add(1, of_predicted, learned[:, n_classes:])
        return logits.softmax(dim=1).gather(1, of_predicted)[:, 0]


@dataclass(frozen=True, eq=False)
class _Points:
    """Calibration points as tensors: network inputs, β · logits, predicted class, whether that is wrong."""

    z: torch.Tensor
    anchor: torch.Tensor
    predicted: torch.Tensor
    wrong: torch.Tensor
