"""The table has each run by the newest version that made it, so that whoever runs a cell gets what is there."""

from __future__ import annotations

from experiments.paper.configuration import DATASETS
from experiments.paper.store import AGAIN, RUNS, Store, key_again


def renew(store: Store) -> int:
    """Take runs that a newer version has done again into the table, and keep those they replace to be compared with.
    Returns how many there were."""
    return sum(_renew(store, dataset) for dataset in DATASETS)


def _renew(store: Store, dataset: str) -> int:
    again = {record["key"]: record for record in store.read(AGAIN, dataset)}
    makers = {(record["device"], record["version"]) for record in again.values()}
    newest_first = sorted(makers, key=lambda maker: _number(maker[1]), reverse=True)
    table, renewed = [], 0
    for run in store.read(RUNS, dataset):
        for device, version in newest_first:
            key = key_again(run["key"], device, version)
            if key in again and _number(version) > _number(run["version"]):
                newer = again.pop(key)
                old = {**run, "key": key_again(run["key"], run["device"], run["version"])}
                again[old["key"]] = old
                run, renewed = {**newer, "key": run["key"]}, renewed + 1
                break
        table.append(run)
    if renewed:
        store.replace(RUNS, dataset, table)
        store.replace(AGAIN, dataset, again.values())
    return renewed


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
