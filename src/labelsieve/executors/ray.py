"""On a Ray cluster: the only file that imports ray."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from labelsieve.errors import ConfigurationError, LabelsieveError
from labelsieve.executors.base import Executor

_RETRIES = 5
"""Lost workers one piece of work may cost before it is taken to be the cause."""


class RayExecutor(Executor):
    """Every piece of work is one Ray task.

    Tasks and not actors or Ray Data: pieces keep no state, so a task whose worker dies is simply run again somewhere
    else, which Ray does by itself; and they are few and large, so that a data pipeline would only add moving parts and
    dependencies. ``common`` is put into the object store once; workers of one machine share it there without a copy.

    address: a running cluster, such as ``"auto"`` or ``"ray://host:10001"``; if None, the one that the environment
        variable ``RAY_ADDRESS`` names, else a local one that is started when needed and shut down by ``close``.
        All machines of a cluster need the same version of labelsieve.
    workers: pieces in work at the same time; if None, as many as the cluster has room for.
    gpus: of each piece, a fraction to share one; a task sees no GPU without it.

    A process that has called ``ray.init`` keeps its connection, whatever the address here.
    """

    def __init__(self, address: str | None = None, workers: int | None = None, gpus: float = 0.0) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise ConfigurationError(f"workers must be a whole number from 1 on, or None; got {workers!r}.")
        self.address = address
        self.workers = workers
        self.gpus = gpus
        self._ray = _imported()
        self._started_here = False

    def map(
        self, function: Callable[[Any, Any], Any], items: Sequence[Any], common: Any = None
    ) -> Iterator[tuple[int, Any]]:
        self._connect()
        task = self._ray.remote(max_retries=_RETRIES, num_cpus=1, num_gpus=self.gpus)(function)
        shared = self._ray.put(common)
        waiting, running = deque(enumerate(items)), dict[Any, int]()
        try:
            while waiting or running:
                while waiting and (self.workers is None or len(running) < self.workers):
                    index, item = waiting.popleft()
                    running[task.remote(shared, item)] = index
                (finished, *_), _ = self._ray.wait(list(running), num_returns=1)
                yield running.pop(finished), self._result(finished)
        finally:  # after an exception, or a reader that wants no more
            for unwanted in running:
                self._ray.cancel(unwanted, force=True)

    def close(self) -> None:
        if self._started_here:
            self._ray.shutdown()
            self._started_here = False

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        address = self.address or os.environ.get("RAY_ADDRESS") or "local"
        local = {"num_cpus": self.workers, "include_dashboard": False} if address == "local" else {}
        try:
            self._ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, **local)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise LabelsieveError(
                f"No Ray cluster answers at {address!r} ({type(error).__name__}: {error}). Check the address, or leave "
                "it out (and RAY_ADDRESS unset) to start a local one."
            ) from error
        self._started_here = True

    def _result(self, finished: Any) -> Any:
        failures = self._ray.exceptions
        try:
            return self._ray.get(finished)
        except failures.RayTaskError as error:
            # The function's own exception, as if it had been called here; Ray's has the traceback of the worker.
            raise error.cause from error
        except (failures.WorkerCrashedError, failures.NodeDiedError, failures.OutOfMemoryError) as error:
            raise LabelsieveError(
                f"A piece of work lost its Ray worker {_RETRIES + 1} times ({type(error).__name__}). It may need more "
                "memory than a worker has: give smaller pieces, or fewer workers at a time (workers=)."
            ) from error


def _imported() -> ModuleType:
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise ConfigurationError(
            "executor 'ray' needs the package ray, which is not installed. "
            "Run pip install 'labelsieve[ray]', or use executor='local'."
        ) from error
    return ray
