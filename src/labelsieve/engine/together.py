"""Many fits at once: those of one architecture become a single tensor program."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from labelsieve.engine.requests import FitConfidence, TrainClassifier
from labelsieve.errors import SmallerBatchWarning

Fit = TrainClassifier | FitConfidence
Done = Callable[[int], None]
_FEWEST = 0.5
"""Points of a member, as a share of those of the largest in its stack; with fewer it is faster in another."""


def fit_together(requests: Sequence[Fit], done: Done | None = None) -> list[Any]:
    """What each request asks for, in their order: fitted classifiers and confidence functions.

    Each comes out as if it had been fitted alone, up to the last digits. ``done`` is told how many have been fitted.
    """
    results: list[Any] = [None] * len(requests)
    finished = 0
    for numbers in _stacks(requests):
        for number, fitted in zip(numbers, _fit_stack([requests[n] for n in numbers]), strict=True):
            results[number] = fitted
        finished += len(numbers)
        if done is not None:
            done(finished)
    return results


def _stacks(requests: Sequence[Fit]) -> list[list[int]]:
    """Which requests to perform as one, in stacks as large as pay."""
    by_key: dict[Hashable, list[int]] = {}
    for number, request in enumerate(requests):
        key = _stack_key(request)
        together = key is not None and _is_hashable(key)
        by_key.setdefault((type(request), key) if together else number, []).append(number)
    stacks = []
    for numbers in by_key.values():
        # The one with most points first: all are filled up to it, and go on as long as it does.
        left = sorted(numbers, key=lambda number: requests[number].n_points, reverse=True)
        while left:
            first = requests[left[0]]
            size = _members_at_once(first) if len(left) > 1 else 1
            stack = [number for number in left[:size] if _FEWEST * first.n_points <= requests[number].n_points]
            stacks.append(stack)
            left = left[len(stack) :]
    return stacks


def _fit_stack(requests: Sequence[Fit]) -> list[Any]:
    if len(requests) == 1:
        (request,) = requests
        return [request.perform(_unwatched) if isinstance(request, TrainClassifier) else request.perform()]
    try:
        return _as_one(requests)
    except Exception as error:
        if not _is_out_of_memory(error):
            raise
    gc.collect()  # what the failed attempt has left must make room first
    half = len(requests) // 2
    warnings.warn(
        f"The device ran out of memory with {len(requests)} fits at once; going on with {half}.",
        SmallerBatchWarning,
        stacklevel=2,
    )
    return _fit_stack(requests[:half]) + _fit_stack(requests[half:])


def _as_one(requests: Sequence[Any]) -> list[Any]:
    members = [request.unfitted() for request in requests]
    if isinstance(requests[0], TrainClassifier):
        type(members[0]).fit_stack(
            members,
            [request.x for request in requests],
            [request.y for request in requests],
            requests[0].n_classes,
            seeds=[request.seed for request in requests],
        )
    else:
        type(members[0]).fit_stack(
            members, [request.outputs for request in requests], [request.y for request in requests]
        )
    return members


def _stack_key(request: Fit) -> Hashable:
    if isinstance(request, TrainClassifier):
        if request.unlabelled is not None:  # stacks learn from labelled points alone
            return None
        return request.classifier.stack_key(request.x, request.n_classes)
    return request.confidence.stack_key(request.outputs)


def _is_hashable(key: Hashable) -> bool:
    """A method of one's own may have a list among its parameters; it is then fitted by itself."""
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _members_at_once(request: Fit) -> int:
    if isinstance(request, TrainClassifier):
        return request.classifier.members_at_once(request.x, request.n_classes)
    return request.confidence.members_at_once(request.outputs)


def _is_out_of_memory(error: BaseException | None) -> bool:
    """By name, since this room knows no torch: a GPU's complaint, or the system's, or what either has led to."""
    while error is not None:
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
            return True
        error = error.__cause__ or error.__context__
    return False


def _unwatched(_share: float) -> None:
    return None
