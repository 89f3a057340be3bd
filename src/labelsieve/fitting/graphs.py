"""Steps that are recorded once on a GPU and replayed, so that small networks do not wait for Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch

_SEEN_BEFORE_RECORDING = 3
"""A recording must not meet anything for the first time: optimiser state, workspaces, chosen kernels."""


class RepeatedStep:
    """Performs a step on rows; where that may be recorded, from the fourth of each shape on by replaying.

    The first few are real steps as well, so that nothing is done twice.
    """

    def __init__(self, step: Callable[[torch.Tensor], object], recordable: bool) -> None:
        self._step = step
        self._recordable = recordable
        self._seen: dict[torch.Size, int] = {}
        self._recorded: dict[torch.Size, tuple[torch.cuda.CUDAGraph, torch.Tensor]] = {}

    def __call__(self, rows: torch.Tensor) -> None:
        if not self._recordable:
            self._step(rows)
            return
        recorded = self._recorded.get(rows.shape)
        if recorded is not None:
            graph, static_rows = recorded
            static_rows.copy_(rows)
            graph.replay()
            return
        seen = self._seen[rows.shape] = self._seen.get(rows.shape, 0) + 1
        if seen <= _SEEN_BEFORE_RECORDING:
            self._on_the_side(rows)
            return
        static_rows = rows.clone()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(rows.device), torch.cuda.graph(graph, stream=_recording_stream(rows.device)):
            self._step(static_rows)
        self._recorded[rows.shape] = graph, static_rows
        graph.replay()

    def _on_the_side(self, rows: torch.Tensor) -> None:
        """On the stream recordings need: gradients remember the stream they were first computed on."""
        stream, current = _recording_stream(rows.device), torch.cuda.current_stream(rows.device)
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            self._step(rows)
        current.wait_stream(stream)


def _recording_stream(device: torch.device) -> torch.cuda.Stream:
    """The current one, unless that is the default one, on which nothing can be recorded."""
    current = torch.cuda.current_stream(device)
    return _side_stream(device) if current == torch.cuda.default_stream(device) else current


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One for all fits: a GPU sets memory aside for every stream that multiplies matrices, and keeps it."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
