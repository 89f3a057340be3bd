"""How long the costly confidence functions take to fit: ``python benchmarks/confidence.py [--device cuda]``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

from labelsieve.confidence import Colander, Dirichlet
from labelsieve.types import Outputs


def synthetic(n: int, k: int, d: int) -> tuple[Outputs, np.ndarray]:
    """Outputs of a classifier that is surer where it is right."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    strength = rng.uniform(0, 4, size=n)
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), y] += strength
    features = rng.normal(size=(n, d)) + 0.3 * strength[:, None]
    return Outputs(logits.astype(np.float32), features.astype(np.float32)), y


def naive_colander(outputs: Outputs, y: np.ndarray, epochs: int, device: str) -> None:
    """The printed form as a plain loop over a DataLoader of batches of 64."""
    z = torch.tensor(np.concatenate([outputs.logits, outputs.features], axis=1))
    predicted, wrong = torch.tensor(outputs.predicted), torch.tensor(outputs.predicted != y).float()
    width, k = z.shape[1], outputs.logits.shape[1]
    network = torch.nn.Sequential(
        torch.nn.Linear(width, 2 * width), torch.nn.Tanh(), torch.nn.Linear(2 * width, k), torch.nn.Softmax(dim=1)
    ).to(device)
    thresholds = torch.rand(k, device=device, requires_grad=True)
    optimiser = torch.optim.Adam([*network.parameters(), thresholds], lr=0.01)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(z, predicted, wrong), 64, shuffle=True)
    for _ in range(epochs):
        for batch in loader:
            points, labels, mistakes = (part.to(device) for part in batch)
            soft = torch.sigmoid(network(points).gather(1, labels[:, None])[:, 0] - thresholds[labels])
            loss = -soft.mean() + 10 * (mistakes * soft).sum() / soft.sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()


def seconds(work: Callable[[], object]) -> float:
    """Wall time; a GPU is waited for."""
    started = time.perf_counter()
    work()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    device = parser.parse_args().device
    outputs, y = synthetic(4000, 10, 512)
    seconds(lambda: Colander(epochs=2, device=device).fit(outputs, y))  # first use of a device is slow

    print(f"Colander, 4,000 × 522 inputs, 10 classes, {device}:")
    default = seconds(lambda: Colander(device=device).fit(outputs, y))
    print(f"  default fit                     {default:7.2f} s")
    full = seconds(lambda: Colander(early_stopping=None, device=device).fit(outputs, y))
    print(f"  500 full-batch epochs           {full:7.2f} s")
    batched = 10 * seconds(
        lambda: Colander(early_stopping=None, batch_size=64, epochs=50, device=device).fit(outputs, y)
    )
    print(f"  500 epochs in batches of 64     {batched:7.2f} s (50 measured)")
    naive = 50 * seconds(lambda: naive_colander(outputs, y, 10, device))
    print(f"  the same, plain DataLoader loop {naive:7.2f} s (10 measured); ours takes {batched / naive:.2f} of that")

    outputs, y = synthetic(4000, 200, 32)
    print("Dirichlet, 4,000 points, 200 classes, cpu:")
    print(f"  plain L2                        {seconds(lambda: Dirichlet().fit(outputs, y)):7.2f} s")
    print(f"  off-diagonal and intercept      {seconds(lambda: Dirichlet(off_diagonal=True).fit(outputs, y)):7.2f} s")


if __name__ == "__main__":
    main()
