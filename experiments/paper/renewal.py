"""Runs of the table that a newer version of the package has done again: the newer ones go into the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.paper.store import AGAIN, RUNS, Record, Store, is_same_run, key_again, key_of, numbers_of


def renew(store: Store, datasets: Sequence[str]) -> int:
    """Take them into the table, and keep those they replace to be compared with. Returns how many there were.

    Nothing is taken away: of records with one key the last counts, and one that is in both places is not compared with
    itself. What is replaced is kept first, so it is not lost if the process is killed in between.
    """
    return sum(_renew(store, dataset) for dataset in datasets)


def _renew(store: Store, dataset: str) -> int:
    again = {record["key"]: record for record in store.read(AGAIN, dataset)}
    replaced, newer = [], []
    for run in store.read(RUNS, dataset):
        newest = max([run, *_others(run, again)], key=lambda record: numbers_of(record["version"]))
        if newest is not run:
            newer.append({**newest, "key": run["key"]})
            if not any(is_same_run(run, other) for other in again.values()):
                replaced.append({**run, "key": _free_key(run, again)})
    store.add(AGAIN, dataset, replaced)
    store.add(RUNS, dataset, newer)
    return len(newer)


def _others(run: Record, again: Mapping[str, Record]) -> list[Record]:
    """The same run by other machines and versions."""
    makers = {(record["device"], record["version"]) for record in again.values()}
    return [again[key] for maker in sorted(makers) if (key := key_again(run["key"], *maker)) in again]


def _free_key(run: Record, again: Mapping[str, Record]) -> str:
    """Another run by the same machine and version may be there already."""
    key = key_again(run["key"], run["device"], run["version"])
    return key_of(run) if key in again else key
