"""Where many independent pieces of work are done: in this process, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labelsieve.errors import ConfigurationError
from labelsieve.executors.base import Executor
from labelsieve.executors.local import LocalExecutor

__all__ = ["Executor", "LocalExecutor", "RayExecutor", "as_executor", "ready"]


def __getattr__(name: str) -> Any:
    """Ray is an extra, and is loaded only when it is asked for."""
    if name == "RayExecutor":
        from labelsieve.executors.ray import RayExecutor

        return RayExecutor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def as_executor(executor: Any) -> Executor:
    """``"local"``, ``"ray"`` (a local cluster, or the one ``RAY_ADDRESS`` names), or the instance given."""
    if isinstance(executor, Executor):
        return executor
    if executor == "local":
        return LocalExecutor()
    if executor == "ray":
        from labelsieve.executors.ray import RayExecutor

        return RayExecutor()
    raise ConfigurationError(
        "executor must be 'local', 'ray', or an instance such as "
        f"labelsieve.executors.RayExecutor(address='auto'); got {executor!r}."
    )


@contextmanager
def ready(executor: Any) -> Iterator[Executor]:
    """What ``as_executor`` makes of it, ready to work inside; closed afterwards, unless it is somebody else's."""
    doing = as_executor(executor)
    doing.open()
    try:
        yield doing
    finally:
        if doing is not executor:
            doing.close()
