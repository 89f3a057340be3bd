"""What every executor promises, on the one that needs nothing."""

from __future__ import annotations

import sys

import pytest
from threadpoolctl import threadpool_info

from labelsieve.errors import ConfigurationError
from labelsieve.executors import LocalExecutor, as_executor


def test_results_come_with_their_index_and_one_by_one():
    done: list[int] = []

    def work(item, factor, offset):
        done.append(item)
        return factor * item + offset

    results = LocalExecutor().map(work, [3, 5], (10, 1))
    assert next(results) == (0, 31)
    assert done == [3]
    assert list(results) == [(1, 51)]


def test_an_exception_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError), LocalExecutor() as executor:
        list(executor.map(lambda item: 1 / item, [0]))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_work_runs_on_as_many_threads_as_it_is_given(threads):
    """Which is what makes sums come out the same wherever they are added up."""
    ((_, used),) = LocalExecutor(threads).map(lambda _: [pool["num_threads"] for pool in threadpool_info()], [None])
    assert used
    assert set(used) == {threads}


def test_names():
    assert isinstance(as_executor("local"), LocalExecutor)
    mine = LocalExecutor()
    assert as_executor(mine) is mine
    for unknown in ("cloud", 3, None, LocalExecutor):
        with pytest.raises(ConfigurationError, match="executor must be 'local', 'ray', or an instance"):
            as_executor(unknown)
    with pytest.raises(ConfigurationError, match=r"threads must be a whole number from 1 on; got 1.5"):
        LocalExecutor(1.5)


def test_without_ray_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        ConfigurationError, match=r"not installed. Run pip install 'labelsieve\[ray\]', or use .*'local'"
    ):
        as_executor("ray")
