"""Several trainings on one device, a step of each in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from typing import Any

import torch

MOST_AT_ONCE = 16
"""A GPU hands out 32 streams, and is busy before."""
_BOTTOM = object()
Place = Callable[[], AbstractContextManager[Any]]
"""Where the steps of one training are done."""


def take_turns(descents: Sequence[Iterator[None]], device: torch.device) -> None:
    """Go all the way down with each; they yield after every step.

    On a GPU, each of several has a stream of its own: steps that leave most of it idle are then done side by side, and
    come out as if they had been done one after the other.
    """
    streams = _streams(device, len(descents)) if device.type == "cuda" and len(descents) > 1 else []
    for stream in streams:  # what they start from has been made elsewhere
        stream.wait_stream(torch.cuda.current_stream(device))
    places: list[Place] = [partial(torch.cuda.stream, stream) for stream in streams]
    going = list(zip(descents, places or [nullcontext] * len(descents), strict=True))
    while going:
        going = [turn for turn in going if _has_stepped(*turn)]
    for stream in streams:
        torch.cuda.current_stream(device).wait_stream(stream)


def _has_stepped(descent: Iterator[None], place: Place) -> bool:
    """False at the bottom."""
    with place():
        return next(descent, _BOTTOM) is not _BOTTOM


@cache
def _streams(device: torch.device, n: int) -> list[torch.cuda.Stream]:
    """The same ones for all fits: a GPU sets memory aside for every stream that multiplies matrices, and keeps it."""
    return [torch.cuda.Stream(device) for _ in range(n)]  # type: ignore[no-untyped-call]
