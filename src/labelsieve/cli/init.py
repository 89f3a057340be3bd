"""``labelsieve init``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from labelsieve.data.readers import Understanding, open_data
from labelsieve.errors import DataError
from labelsieve.project import Project
from labelsieve.project.budgets import check_given_validation_budget, with_fitting_budgets
from labelsieve.project.columns import refuse_doubtful_columns
from labelsieve.project.config import Config, checked_config
from labelsieve.project.making import make, understood

_LABELLING = {
    "tolerance": "tolerance",
    "delta": "delta",
    "train_budget": "train_budget",
    "validation_budget": "validation_budget",
    "stop_early": "stop_early",
    "seed": "random_state",
}
"""Options, and the keys of the file they stand for."""


def init(arguments: argparse.Namespace) -> int:
    config = _config(arguments)
    check_given_validation_budget(config)
    found = understood(config.data)
    show(found)
    if config.data.kind == "table":
        if not arguments.features:
            refuse_doubtful_columns(config.data, found, config.classes)
        named = "those named" if arguments.features else "every column, since none was named"
        print(f"features ({named}): {', '.join(config.data.columns)}")
    config = with_fitting_budgets(config, found.rows)
    taken = make(arguments.folder, config, arguments.answers_from)
    print(f"made {arguments.folder}; its settings are in {arguments.folder / 'labelsieve.toml'}")
    if taken is not None:
        print(
            f"took {taken.taken:,} answers from {arguments.answers_from}, to learn from; left behind: "
            f"{taken.of_other_items:,} about items that are not here or read differently, "
            f"{taken.of_other_classes:,} with other classes"
        )
    with Project(arguments.folder) as project:
        status = project.status()
    if status.obstacle is None:
        _show_budgets(config, status.items)
    print(status.next_step(str(arguments.folder)))
    return 0


def _show_budgets(config: Config, n_items: int) -> None:
    """What people are in for, and whether it is worth it."""
    train, validation = config.labelling.train_budget, config.labelling.validation_budget
    left = n_items - train - validation
    print(
        f"labels of people: up to {train:,} to learn from and {validation:,} to check with, of {n_items:,} items; the "
        f"other {left:,} are for the machine, as far as it can vouch for them"
    )
    if left < train + validation:
        print(
            "note: people label more than the machine can; labelling all by hand may be less trouble. A larger "
            "tolerance or delta takes fewer labels to check with."
        )
    else:
        print(
            f"what they may bring, and what others would: labelsieve plan --pool {n_items} --classes "
            f"{len(config.classes)} --tolerance {config.labelling.tolerance:g} --delta {config.labelling.delta:g} "
            f"--train-budget {train} --validation-budget {validation}"
        )


def show(found: Understanding) -> None:
    """Print what is in the data; images that cannot be read are refused."""
    for line in found.in_words():
        print(line)
    if found.bad_images:
        raise DataError(
            f"All images must be readable; {len(found.bad_images):,} are not, see above. Repair or remove them."
        )


def _config(arguments: argparse.Namespace) -> Config:
    given = {key: getattr(arguments, option) for option, key in _LABELLING.items()}
    data: dict[str, Any] = {
        "file": str(Path(arguments.data).resolve()),  # the project finds it from wherever it is used
        "kind": _kind(arguments),
        "text": arguments.text,
        "image": arguments.image,
        "id": arguments.id,
        "columns": _columns(arguments),
        "encoding": arguments.encoding,
    }
    written = {
        "classes": tuple(name.strip() for name in arguments.classes.split(",")),
        "data": data,
        "labelling": {key: value for key, value in given.items() if value is not None},
    }
    return checked_config(written, "The project's settings")


def _kind(arguments: argparse.Namespace) -> str:
    if arguments.text:
        return "text"
    path = Path(arguments.data)
    if arguments.image or (path.is_dir() and not (path / "state.json").exists()):
        return "image"
    return "features" if path.suffix.lower() in (".npy", ".npz") else "table"


def _columns(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Of a table: those that were named, or all but the one that names the items."""
    if arguments.features:
        return tuple(name.strip() for name in arguments.features.split(","))
    if _kind(arguments) != "table":
        return ()
    reader = open_data(arguments.data, encoding=arguments.encoding)
    return tuple(name for name in reader.columns if name not in (arguments.id, reader.id_column))
