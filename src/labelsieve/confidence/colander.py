"""Colander: a confidence function learned by maximising coverage under an error penalty."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import torch
from torch import nn

from labelsieve.confidence.base import ConfidenceFunction
from labelsieve.confidence.colander_objective import Objective, Points, StackedPoints, confidence_in_predicted
from labelsieve.confidence.evidence import evidence_columns
from labelsieve.confidence.temperature import inverse_temperature
from labelsieve.errors import ConfigurationError
from labelsieve.fitting.adam import descend_by_adam
from labelsieve.fitting.devices import kernels, members_that_pay, own_randomness, resolve_device
from labelsieve.fitting.early_stopping import BestEpoch
from labelsieve.fitting.members import OptimiserSettings, neighbours_first
from labelsieve.fitting.turns import take_turns
from labelsieve.types import Floats, Ints, Outputs

_ALIGNED = 4
"""Rows of so many numbers, or a multiple, begin where a GPU can read 16 bytes at once."""
_PER_MEMBER = ("alpha", "penalty", "learning_rate", "weight_decay", "random_state")
"""Parameters in which fits that are done together may differ."""


class Colander(ConfidenceFunction):
    """g(x) = softmax(W₂ tanh(W₁ z))[ŷ], fitted together with thresholds t to minimise −P̃ + λ Ẽ (P3).

    z is the classifier's logits and the layer before them; W₁ has 2 (k + d₂) rows. P̃ and Ẽ are the paper's smooth
    coverage and error with scale ``alpha``; ``penalty`` is λ. The fitted thresholds ``thresholds_`` are for
    inspection: the ones that are used come from the threshold split.

    anchor: ``"temperature"`` puts the temperature-scaled logits inside the softmax, starts W₂ at 0, and lets one more
        output s(z) raise or lower the predicted class alone, g = softmax(logits / T + W₂ tanh(W₁ z) + s(z) · e_ŷ)[ŷ];
        learning then begins at a good score. None is the printed form. docs/methods.md has what each part brings.
    features: ``"concat"`` for z as above, ``"logits"`` or ``"prelogits"`` for one half of it, ``"evidence"`` for the
        columns of ``Evidence``.
    folds: as in ``Evidence``, and for ``features="evidence"`` alone: what other features mean differs between the
        classifiers of the folds.
    per_class: one threshold per class, or one for all.
    standardise: z to zero mean and unit variance over the calibration points.
    early_stopping: share of the calibration points kept aside to choose the epoch, and ``patience`` the number of
        epochs to wait for a better one; None takes the last epoch. The threshold split is never seen.
    batch_size: None for full batches. The learning rate falls as half a cosine over ``cosine_period`` epochs (all of
        them if None). Thresholds have no weight decay.
    precision: ``"tf32"`` for faster and less exact products on a GPU.
    """

    def __init__(
        self,
        alpha: float = 10.0,
        penalty: float = 5.0,
        anchor: Literal["temperature"] | None = "temperature",
        features: Literal["concat", "logits", "prelogits", "evidence"] = "concat",
        folds: int = 0,
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
        precision: Literal["full", "tf32"] = "full",
        random_state: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.penalty = penalty
        self.anchor = anchor
        self.features = features
        self.folds = folds
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
        self.precision = precision
        self.random_state = random_state

    def check_parameters(self) -> None:
        if self.features not in ("concat", "logits", "prelogits", "evidence"):
            raise ConfigurationError(
                f"features must be 'concat', 'logits', 'prelogits' or 'evidence'; got {self.features!r}."
            )
        if self.folds and (self.features != "evidence" or self.folds < 2):
            raise ConfigurationError(
                f"folds must be 0, or with features='evidence' a whole number from 2 on; got {self.folds!r} with "
                f"features={self.features!r}."
            )
        if self.anchor not in ("temperature", None):
            raise ConfigurationError(f"anchor must be 'temperature' or None; got {self.anchor!r}.")
        if self.early_stopping is not None and not 0 < self.early_stopping < 1:
            raise ConfigurationError(
                f"early_stopping must be a share between 0 and 1, or None; got {self.early_stopping}."
            )
        if self.precision not in ("full", "tf32"):
            raise ConfigurationError(f"precision must be 'full' or 'tf32'; got {self.precision!r}.")
        resolve_device(self.device)

    @property
    def training_folds(self) -> int:
        return self.folds

    def _fit(self, outputs: Outputs, y: Ints) -> None:
        self._fit_stack([self], [outputs], [y])

    def stack_key(self, outputs: Outputs) -> Hashable:
        shared = {name: value for name, value in self.get_params().items() if name not in _PER_MEMBER}
        # Where all have to be at the end of an epoch together, all have as many points.
        together = len(outputs) if self.batch_size is None or self.early_stopping is not None else None
        return (type(self), together, outputs.logits.shape[1], outputs.features.shape[1], *shared.items())

    def members_at_once(self, outputs: Outputs) -> int:
        width = self._width(outputs)
        points = len(outputs) if self.batch_size is None else min(self.batch_size, len(outputs))
        weights = 2 * width * (width + int(outputs.logits.shape[1]))
        return members_that_pay(4 * weights, 4 * points * width, resolve_device(self.device))

    @classmethod
    def _fit_stack(cls, members: Sequence[Colander], outputs: Sequence[Outputs], ys: Sequence[Ints]) -> None:
        """All members as one tensor program; points they have in common are prepared and kept once."""
        settings = [OptimiserSettings(member.learning_rate, member.weight_decay) for member in members]
        settings, members, outputs, ys = neighbours_first(settings, members, outputs, ys)
        first = members[0]
        device, n_classes = resolve_device(first.device), outputs[0].logits.shape[1]
        prepared: dict[tuple[int, int, int], Points] = {}
        for member, said, y in zip(members, outputs, ys, strict=True):
            key = (id(said), id(y), member.random_state or 0)
            if key not in prepared:
                prepared[key] = member._prepare(said, y)
            points = prepared[key]
            member.centre_, member.spread_, member.beta_ = points.centre, points.spread, points.beta
            member.network_ = member._network(points.z.shape[1], 2 * member._width(said), n_classes)
        keys = list(prepared)
        sources = [
            keys.index((id(said), id(y), m.random_state or 0)) for m, said, y in zip(members, outputs, ys, strict=True)
        ]
        data = StackedPoints(list(prepared.values()), sources, device, copy=first.batch_size is None)
        objective = Objective(members, data, n_classes, device)
        best = BestEpoch(objective.weights, first.patience)
        n_learning = [len(prepared[keys[source]].learning) for source in sources]

        def after_epoch(_done: int) -> bool:
            if not data.n_watching:
                return True
            with torch.no_grad():
                return best.go_on(objective.losses(data.watching))

        descent = descend_by_adam(
            lambda positions: objective.gradients(data.learning(positions)),
            objective.weights,
            objective.settings(settings),
            n_learning,
            epochs=first.epochs,
            batch_size=first.batch_size,
            cosine_period=first.cosine_period or first.epochs,
            seeds=[member.random_state or 0 for member in members],
            device=device,
            after_epoch=after_epoch,
        )
        with kernels(first.precision, device):
            take_turns([descent], device)
        best.restore()
        objective.write_back()

    def _prepare(self, outputs: Outputs, y: Ints) -> Points:
        """What a fit needs of calibration points, whatever the member's α, penalty, rate and decay."""
        learning, watching = self._split(len(y), self.random_state or 0)
        z = self._inputs(outputs)
        centre, spread = self._centre_and_spread(z[learning])
        beta = inverse_temperature(outputs.logits[learning], y[learning]) if self.anchor else 0.0
        return Points(
            z=((z - centre) / spread).astype(np.float32),
            anchor=(beta * outputs.logits).astype(np.float32),
            predicted=outputs.predicted,
            wrong=(outputs.predicted != y).astype(np.float32),
            learning=learning,
            watching=watching,
            centre=centre,
            spread=spread,
            beta=beta,
        )

    @torch.inference_mode()
    def _score(self, outputs: Outputs) -> Floats:
        device = next(self.network_.parameters()).device
        z = torch.as_tensor((self._inputs(outputs) - self.centre_) / self.spread_, dtype=torch.float32, device=device)
        anchor = torch.as_tensor(self.beta_ * outputs.logits, dtype=torch.float64, device=device)
        predicted = torch.as_tensor(outputs.predicted, device=device)
        # The softmax is in double precision, so that near-certain points do not all tie at 1.
        scores = confidence_in_predicted(anchor, self.network_(z).double(), predicted, self.anchor is not None)
        return scores.cpu().numpy()

    def _split(self, n: int, seed: int) -> tuple[Ints, Ints]:
        """Rows to learn from, and rows to choose the epoch by."""
        order = np.random.default_rng(seed).permutation(n)
        n_watching = 0 if self.early_stopping is None else round(self.early_stopping * n)
        return order[n_watching:], order[:n_watching]

    def _inputs(self, outputs: Outputs) -> Floats:
        """z, and columns of zeros up to a width that GPUs multiply fastest."""
        if self.features == "evidence":
            parts = [evidence_columns(outputs)]
        else:
            parts = {"logits": [outputs.logits], "prelogits": [outputs.features]}.get(
                self.features, [outputs.logits, outputs.features]
            )
        padding = np.zeros((len(outputs), -self._width(outputs) % _ALIGNED), dtype=outputs.logits.dtype)
        return np.concatenate([*parts, padding], axis=1)

    def _centre_and_spread(self, z: Floats) -> tuple[Floats, Floats]:
        if not self.standardise:
            return np.zeros(z.shape[1]), np.ones(z.shape[1])
        spread = z.std(axis=0)
        return z.mean(axis=0), np.where(spread > 1e-6, spread, 1.0)

    def _network(self, inputs: int, hidden: int, n_classes: int) -> nn.Sequential:
        with own_randomness(self.random_state or 0, torch.device("cpu")):
            last = nn.Linear(hidden, n_classes + 1 if self.anchor else n_classes)
            network = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), last)
        if self.anchor:
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)
        return network

    def _width(self, outputs: Outputs) -> int:
        k, d = int(outputs.logits.shape[1]), int(outputs.features.shape[1])
        if self.features == "evidence":
            return int(evidence_columns(outputs[:1]).shape[1])
        return {"logits": k, "prelogits": d, "concat": k + d}[self.features]


def colander_on_evidence() -> Colander:
    """Colander's objective on the columns of ``Evidence``, learned from training points as that is."""
    return Colander(features="evidence", folds=4)
