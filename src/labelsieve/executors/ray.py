"""On a Ray cluster: the only file that imports ray."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from labelsieve.errors import ConfigurationError, LabelsieveError
from labelsieve.executors.base import Executor, checked_count, with_threads

_RETRIES = 5
"""Lost workers one piece of work may cost before it is taken to be the cause."""

_LOCAL = "local"
_PATIENCE_S = 10.0


class RayExecutor(Executor):
    """Every piece of work is one Ray task.

    Tasks and not actors or Ray Data: pieces keep no state, so a task whose worker dies is simply run again somewhere
    else, which Ray does by itself; and they are few and large, so that a data pipeline would only add moving parts and
    dependencies. What is ``common`` is put into the object store once; workers of one machine share its arrays there
    without a copy.

    address: a running cluster, such as ``"auto"`` or ``"ray://host:10001"``; if None, the one that the environment
        variable ``RAY_ADDRESS`` names, else a local one that is started when needed and shut down by ``close``.
        All machines of a cluster need the same version of labelsieve.
    workers: pieces in work at the same time; if None, as many as the cluster has room for.
    threads, gpus: of each piece. A fraction shares a GPU; a task sees none without it.

    A process that has called ``ray.init`` keeps its connection, whatever the address here.
    """

    def __init__(
        self, address: str | None = None, workers: int | None = None, threads: int = 1, gpus: float = 0.0
    ) -> None:
        super().__init__(threads)
        self.address = address
        self.workers = None if workers is None else checked_count("workers", workers)
        self.gpus = gpus
        self._ray = _imported()
        self._started_here = False
        self._stored = WeakKeyDictionary[Any, Any]()

    def map(
        self, function: Callable[..., Any], items: Sequence[Any], common: Sequence[Any] = ()
    ) -> Iterator[tuple[int, Any]]:
        self.open()
        task = self._ray.remote(max_retries=_RETRIES, num_cpus=self.threads, num_gpus=self.gpus)(with_threads)
        shared = [self._put(part) for part in common]
        waiting, running = deque(enumerate(items)), dict[Any, int]()
        try:
            while waiting or running:
                while waiting and (self.workers is None or len(running) < self.workers):
                    index, item = waiting.popleft()
                    running[task.remote(self.threads, function, item, *shared)] = index
                (finished, *_), _ = self._ray.wait(list(running), num_returns=1)
                yield running.pop(finished), self._result(finished)
        finally:  # after an exception, or a reader that wants no more
            for unwanted in running:
                self._ray.cancel(unwanted, force=True)

    def open(self) -> None:
        if self._ray.is_initialized():
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        address = self.address or os.environ.get("RAY_ADDRESS") or _LOCAL
        local: dict[str, Any] = {}
        if address == _LOCAL:
            n = (self.workers or max(1, (os.cpu_count() or 1) // self.threads)) * self.threads
            local = {"num_cpus": n, "include_dashboard": False}
        try:
            _knock(address)
            self._ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, **local)
        except (OSError, RuntimeError, ValueError) as error:
            raise LabelsieveError(
                f"A Ray cluster was expected at {address!r}; none answers there ({error}). Correct the address, or "
                "leave it out, and RAY_ADDRESS unset, to start a local one."
            ) from error
        self._started_here = True
        if address == _LOCAL and self._ray.cluster_resources().get("GPU", 0) < self.gpus:
            self.close()
            raise ConfigurationError(  # Ray would wait for one for ever
                f"gpus must not exceed what this machine has; got {self.gpus:g}, and Ray finds fewer. Use gpus=0."
            )

    def close(self) -> None:
        self._stored.clear()
        if self._started_here:
            self._ray.shutdown()
            self._started_here = False

    def _put(self, part: Any) -> Any:
        """In the object store, once for as long as the object lives here: a pool is sent once and not every round."""
        try:
            if part not in self._stored:
                self._stored[part] = self._ray.put(part)
            return self._stored[part]
        except TypeError:  # a dictionary or an array, which cannot be remembered
            return self._ray.put(part)

    def _result(self, finished: Any) -> Any:
        failures = self._ray.exceptions
        try:
            return self._ray.get(finished)
        except failures.RayTaskError as error:
            # The function's own exception, as if it had been called here; Ray's has the traceback of the worker.
            raise error.cause or error from error
        except (failures.WorkerCrashedError, failures.NodeDiedError, failures.OutOfMemoryError) as error:
            raise LabelsieveError(
                f"A piece of work lost its Ray worker {_RETRIES + 1} times ({type(error).__name__}). It may need more "
                "memory than a worker has: give smaller pieces, or fewer workers at a time (workers=)."
            ) from error


def _knock(address: str) -> None:
    """Raise ``OSError`` if nobody listens at host:port: Ray itself would go on trying for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_PATIENCE_S).close()


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
