"""``labelsieve people``."""

from __future__ import annotations

import argparse

from labelsieve.errors import ConfigurationError
from labelsieve.project import Project
from labelsieve.store.seats import Seats


def people(arguments: argparse.Namespace) -> int:
    with Project(arguments.folder) as project:
        seats = Seats(project.database)
        if arguments.remove is not None:
            if not seats.take_token(arguments.remove):
                known = ", ".join(person.name for person in seats.people()) or "nobody"
                raise ConfigurationError(
                    f"--remove must name somebody who has a link; {arguments.remove!r} has none. Links have: {known}."
                )
            print(f"the link of {arguments.remove} opens nothing any more; their answers stay")
        left = seats.people()
    for person in left:
        print(f"{person.role:9} {person.name}")
    if not left:
        print(f"Nobody has a link: labelsieve serve {arguments.folder} opens without one, on this machine alone.")
    return 0
