"""On a real Ray cluster of two workers: the same results, also when a worker is killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_info

import labelsieve as ls
from labelsieve.engine.requests import ScorePool
from labelsieve.engine.sharding import score_in_shards
from labelsieve.queries import MarginRandom

ray = pytest.importorskip("ray")

X, Y = make_blobs(n_samples=600, centers=3, cluster_std=2.2, random_state=3)


@pytest.fixture(scope="module")
def cluster():
    """An executor that has started a local cluster; others in this process find it running."""
    from labelsieve.executors import RayExecutor

    with RayExecutor(workers=2) as executor:
        list(executor.map(_pid, range(4)))
        yield executor
        assert ray.is_initialized()  # no test, and no executor but this one, has shut it down
    assert not ray.is_initialized()


def _pid(_item: int) -> int:
    return os.getpid()


def _marked(item: int, folder: str, seconds: float) -> int:
    Path(folder, f"{item}-{os.getpid()}").touch()
    time.sleep(seconds)
    return item * item


def _raising(item: int) -> int:
    if item == 2:
        raise KeyError("two")
    time.sleep(0.05)
    return item


def test_two_processes_and_every_item_once(cluster, tmp_path):
    results = dict(cluster.map(_marked, range(6), (str(tmp_path), 0.2)))
    assert results == {item: item * item for item in range(6)}
    workers = {int(mark.name.partition("-")[2]) for mark in tmp_path.iterdir()}
    assert len(workers) == 2
    assert os.getpid() not in workers


@pytest.mark.parametrize("threads", [1, 2])
def test_workers_use_as_many_threads_as_a_local_executor_would(cluster, threads):
    ((_, used),) = ls.executors.RayExecutor(threads=threads).map(_threads, [None])
    assert used == {threads}


def _threads(_item: None) -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


def test_the_function_s_own_exception_comes_back(cluster):
    with pytest.raises(KeyError, match="two"):
        list(cluster.map(_raising, range(4)))


def test_another_executor_leaves_the_cluster_alone(cluster):
    with ls.executors.RayExecutor() as other:
        assert dict(other.map(_pid, [0])).keys() == {0}
    assert ray.is_initialized()


def test_what_is_common_is_sent_once_while_it_lives(cluster):
    pool = ls.Pool(X)
    first = cluster._put(pool)
    assert cluster._put(pool) is first
    assert cluster._put(ls.Pool(X)) is not first
    assert ray.get(cluster._put({"not": "hashable"})) == {"not": "hashable"}


class Killer(threading.Thread):
    """Kills the first worker that has left a mark in the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.killed = folder, 0

    def run(self) -> None:
        deadline = time.monotonic() + 60
        while not (marks := sorted(self.folder.iterdir())) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)  # in the middle of its work
        self.killed = int(marks[0].name.partition("-")[2])
        os.kill(self.killed, signal.SIGKILL)


class Slow(ls.confidence.ConfidenceFunction):
    """Softmax to a power, that leaves a mark where it is fitted, and takes its time when fitted elsewhere."""

    def __init__(self, power: float = 1.0, folder: str = "", home: int = 0) -> None:
        self.power = power
        self.folder = folder
        self.home = home

    def _fit(self, outputs, y):
        if os.getpid() != self.home:
            Path(self.folder, f"{self.power}-{os.getpid()}").touch()
            time.sleep(0.4)

    def _score(self, outputs):
        return outputs.probabilities.max(axis=1) ** self.power


def test_a_killed_worker_costs_time_and_no_result(cluster, tmp_path):
    """A whole search, one worker of which is killed half-way, against the same search in this process."""
    cache, marks = tmp_path / "cache", tmp_path / "marks"
    marks.mkdir()
    settings = {
        "validation": (X[300:450], Y[300:450]), "hyp": (X[450:], Y[450:]), "classes": 3, "seed_size": 30,
        "classifier": "logistic", "confidence": Slow(folder=str(marks), home=os.getpid()), "tolerance": 0.1,
        "grid": {"training": {"common": {"estimator__C": [0.01, 1.0]}},
                 "confidence": {"Slow": {"power": [0.5, 1.0, 2.0, 4.0]}}},
        "seeds": 2, "chunk_size": 2, "progress": False,
    }  # fmt: skip
    here = ls.search(X[:300], ls.SimulatedAnnotator(Y[:300]), **settings)
    assert not list(marks.iterdir())
    killer = Killer(marks)
    killer.start()
    there = ls.search(X[:300], ls.SimulatedAnnotator(Y[:300]), executor=cluster_again(), cache=cache, **settings)
    killer.join()
    assert there.to_dict() == here.to_dict()
    assert len(list(cache.glob("*.json"))) == 2 * 2 + 4 * 2
    ran_in = defaultdict(set)
    for mark in marks.iterdir():
        power, _, pid = mark.name.partition("-")
        ran_in[power].add(int(pid))
    assert any(len(pids) > 1 and killer.killed in pids for pids in ran_in.values())  # done again, elsewhere


def cluster_again() -> ls.executors.Executor:
    """A second executor on the running cluster, as ``executor="ray"`` makes one."""
    return ls.executors.as_executor("ray")


def test_a_network_trains_to_the_same_weights_and_scores_the_pool_alike(cluster):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40_000, 8)).astype(np.float32)
    y = (x[:300, 0] + x[:300, 1] > 0).astype(np.int64)
    classifier = ls.classifiers.TorchClassifier(ls.classifiers.MLP((64, 32)), epochs=3, device="cpu")
    ((_, there),) = cluster.map(_trained, [classifier], (x[:300], y))
    ((_, here),) = ls.executors.LocalExecutor().map(_trained, [classifier], (x[:300], y))
    assert there.fingerprint() == here.fingerprint()
    confidence = ls.confidence.Colander(epochs=5, device="cpu").fit(here.outputs(x[:300]), y)
    request = ScorePool(ls.Pool(x), np.arange(1, 40_000), here, confidence, MarginRandom())
    told: list[int] = []
    spread = score_in_shards(request, cluster, lambda done, _total: told.append(done), shard_rows=8192)
    ((_, whole),) = ls.executors.LocalExecutor().map(lambda _: request.perform(lambda *_: None), [None])
    for name in ("predicted", "score", "query_summary"):
        assert np.array_equal(getattr(spread, name), getattr(whole, name)), name
    assert len(told) == 5


def test_a_run_over_a_pool_on_disk_scored_in_shards(cluster, tmp_path):
    """The pool travels as its path; the labels are those of a run in this process."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(150_000, 4)).astype(np.float32)
    y = (x[:, 0] + 0.3 * rng.normal(size=len(x)) > 0).astype(int)
    np.save(tmp_path / "points.npy", x)
    settings = {"classes": 2, "train_budget": 60, "validation_budget": 300, "classifier": "logistic", "progress": False}
    there = ls.autolabel(tmp_path / "points.npy", ls.SimulatedAnnotator(y), executor=cluster, **settings)
    here = ls.autolabel(x, ls.SimulatedAnnotator(y), **settings)
    assert there.coverage > 0.1
    assert there.labels.equals(here.labels)


def test_runs_as_tasks(cluster):
    runs = [{"random_state": seed, "query": query} for seed in (0, 1) for query in ("random", "margin")]
    common = {
        "classes": 3, "train_budget": 60, "validation_budget": 300, "classifier": "logistic", "thresholds": "paper",
        "progress": False,
    }  # fmt: skip
    there = ls.autolabel_many(X, ls.SimulatedAnnotator(Y), runs, executor=cluster, runs_per_task=3, **common)
    here = ls.autolabel_many(X, ls.SimulatedAnnotator(Y), runs, **common)
    assert [run.labels.to_csv() for run in there] == [run.labels.to_csv() for run in here]
    assert [run.settings["query"] for run in there] == [run.settings["query"] for run in here]


def _trained(classifier, x, y):
    return classifier.fit(x, y, 2, seed=3)


def test_a_cluster_that_is_not_there(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    options = ["--data", tmp_path / "x.npy", "--labels", tmp_path / "y.npy", "--executor", "ray", "--address"]
    done = subprocess.run(
        [sys.executable, "-m", "labelsieve", "search", *options, "127.0.0.1:1"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "A Ray cluster was expected at '127.0.0.1:1'; none answers there" in done.stderr
    assert "to start a local one" in done.stderr


def test_the_command_on_a_running_cluster(cluster, tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    options = [
        "search", "--data", tmp_path / "x.npy", "--labels", tmp_path / "y.npy", "--classifier", "logistic",
        "--confidence", "dirichlet", "--seed-size", 30, "--validation-budget", 150, "--hyp-budget", 150, "--seeds", 2,
        "--json",
    ]  # fmt: skip
    address = ray.get_runtime_context().gcs_address
    there, here = (
        subprocess.run(
            [sys.executable, "-m", "labelsieve", *map(str, [*options, *more])],
            capture_output=True, text=True, check=True,
        )
        for more in (["--executor", "ray", "--address", address], [])
    )  # fmt: skip
    assert json.loads(there.stdout) == json.loads(here.stdout)
    assert there.stderr == here.stderr  # progress, and nothing that Ray has to say
