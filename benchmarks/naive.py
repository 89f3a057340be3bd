"""The naive ways: plain loops over a DataLoader, one fit at a time."""

from __future__ import annotations

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from labelsieve.classifiers.networks import NetworkFactory
from labelsieve.types import Outputs


def train_network(network: NetworkFactory, x: np.ndarray, y: np.ndarray, epochs: int, device: str) -> torch.nn.Module:
    """Cross-entropy by SGD in batches of 32."""
    points = torch.tensor((x - x.mean()) / x.std(), dtype=torch.float32)
    points = points[:, None] if points.ndim == 3 else points.movedim(3, 1) if points.ndim == 4 else points
    module = network(tuple(x.shape[1:]), int(y.max()) + 1).to(device)
    optimiser = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, weight_decay=0.001)
    loader = DataLoader(TensorDataset(points, torch.tensor(y)), 32, shuffle=True)
    for _ in range(epochs):
        for batch, labels in loader:
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(module(batch.to(device))[0], labels.to(device)).backward()
            optimiser.step()
    return module


def fit_colander(outputs: Outputs, y: np.ndarray, epochs: int, device: str) -> torch.nn.Module:
    """The printed form in batches of 64."""
    z = torch.tensor(np.concatenate([outputs.logits, outputs.features], axis=1))
    predicted, wrong = torch.tensor(outputs.predicted), torch.tensor(outputs.predicted != y).float()
    width, k = z.shape[1], outputs.logits.shape[1]
    network = torch.nn.Sequential(
        torch.nn.Linear(width, 2 * width), torch.nn.Tanh(), torch.nn.Linear(2 * width, k), torch.nn.Softmax(dim=1)
    ).to(device)
    thresholds = torch.rand(k, device=device, requires_grad=True)
    optimiser = torch.optim.Adam([*network.parameters(), thresholds], lr=0.01)
    for _ in range(epochs):
        for batch in DataLoader(TensorDataset(z, predicted, wrong), 64, shuffle=True):
            points, labels, mistakes = (part.to(device) for part in batch)
            soft = torch.sigmoid(network(points).gather(1, labels[:, None])[:, 0] - thresholds[labels])
            loss = -soft.mean() + 10 * (mistakes * soft).sum() / soft.sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return network
