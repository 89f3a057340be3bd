"""``labelsieve label-studio``: push, pull, export and import. Imports nothing heavy until one of them is run."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelsieve.errors import ConfigurationError

if TYPE_CHECKING:
    from labelsieve.annotators.label_studio import LabelStudio
    from labelsieve.project import Project
    from labelsieve.project.label_studio import Place, Pulled

TOKEN_VARIABLE = "LABEL_STUDIO_API_KEY"


def add_label_studio(commands: Any) -> None:
    """The command and its options."""
    command = commands.add_parser(
        "label-studio",
        help="let people label in Label Studio",
        description="Send what people are asked about to Label Studio, and fetch their annotations.",
    )
    actions = command.add_subparsers(title="commands", metavar="COMMAND", required=True)

    push = _add(actions, "push", _push, "send tasks to a server", "Send what people are asked about now; once each.")
    _add_server(push)
    where = push.add_mutually_exclusive_group()
    where.add_argument("--project", type=int, metavar="ID", help="its number there (default: as in the last push)")
    where.add_argument("--create", metavar="TITLE", help="make a project with this title there, and send to it")
    _add_content(push)

    pull = _add(actions, "pull", _pull, "fetch annotations from a server", "Keep annotations as answers.")
    _add_server(pull)
    pull.add_argument("--project", type=int, metavar="ID", help="its number there (default: as in the last push)")

    export = _add(actions, "export", _export, "write tasks to a file", "Write a file for Label Studio's import.")
    export.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON file to write")
    export.add_argument("--interface", type=Path, metavar="FILE", help="also write the labeling interface, in XML")
    _add_content(export)

    take = _add(actions, "import", _import, "read annotations from a file", "Keep annotations as answers.")
    take.add_argument("file", type=Path, metavar="FILE", help="Label Studio's export, as JSON or JSON-MIN")


def _add(actions: Any, name: str, run: Any, summary: str, description: str) -> argparse.ArgumentParser:
    action: argparse.ArgumentParser = actions.add_parser(name, help=summary, description=description)
    action.add_argument("folder", type=Path, metavar="DIR", help="folder of the project")
    action.set_defaults(run=run)
    return action


def _add_server(action: argparse.ArgumentParser) -> None:
    action.add_argument("--url", metavar="URL", help="address of the server (default: as in the last push)")
    action.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"file with the access token (default: the environment variable {TOKEN_VARIABLE})",
    )
    action.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECONDS", help="to wait for an answer (default: %(default)g)"
    )


def _add_content(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--machine-labels",
        action="store_true",
        help="in place of questions, what the machine has labelled, with its labels as predictions",
    )
    action.add_argument(
        "--images", metavar="URL", help="address the paths of images are put behind (default: images are in the tasks)"
    )


def _push(arguments: argparse.Namespace) -> int:
    from labelsieve.project import Project
    from labelsieve.project import label_studio as studio
    from labelsieve.project.label_studio_tasks import tasks_of

    with Project(arguments.folder) as project:
        last = studio.remembered(project)
        server = _server(arguments, last)
        if arguments.create is None and arguments.machine_labels and arguments.project is None:
            raise ConfigurationError("Machine labels need a place of their own: give --create TITLE or --project ID.")
        tasks = tasks_of(project, machine_labels=arguments.machine_labels)
        if not tasks:
            return _nothing_to_send(arguments, project)
        if arguments.create is not None:
            number = studio.make_on_server(project, server, arguments.create)
            print(f"made project {number} at {server.url}", flush=True)
        else:
            number = _number(arguments, last, server)
            studio.check_interface(project, server, number)
        if not arguments.machine_labels:
            studio.remember(project, studio.Place(server.url, number))
        done = studio.push(project, server, number, tasks, images=arguments.images)
    print(f"sent {done.sent:,} tasks to project {number} at {server.url}; {done.known:,} were there already")
    if not arguments.machine_labels:
        print(f"When people have labelled there: labelsieve label-studio pull {arguments.folder}")
    return 0


def _pull(arguments: argparse.Namespace) -> int:
    from labelsieve.project import Project
    from labelsieve.project import label_studio as studio

    with Project(arguments.folder) as project:
        last = studio.remembered(project)
        server = _server(arguments, last)
        _tell(studio.pull(project, server, _number(arguments, last, server)))
        print(project.status().next_step(str(arguments.folder)))
    return 0


def _export(arguments: argparse.Namespace) -> int:
    from labelsieve.exports import labelling_config
    from labelsieve.project import Project
    from labelsieve.project.label_studio_tasks import tasks_of, with_images, write_tasks
    from labelsieve.writing import write_atomically

    with Project(arguments.folder) as project:
        tasks = tasks_of(project, machine_labels=arguments.machine_labels)
        if not tasks:
            return _nothing_to_send(arguments, project)
        config = project.config
        interface = labelling_config(config.classes, config.data.kind)
        write_tasks(with_images(project, tasks, arguments.images), arguments.out)
    print(f"wrote {len(tasks):,} tasks to {arguments.out}")
    if arguments.interface is not None:
        write_atomically({arguments.interface: interface.encode()})
        print(f"wrote the labeling interface to {arguments.interface}")
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from labelsieve.project import Project
    from labelsieve.project import label_studio as studio

    with Project(arguments.folder) as project:
        _tell(studio.keep_file(project, arguments.file))
        print(project.status().next_step(str(arguments.folder)))
    return 0


def _server(arguments: argparse.Namespace, last: Place | None) -> LabelStudio:
    from labelsieve.annotators.label_studio import LabelStudio

    url = arguments.url or (last.url if last else None)
    if url is None:
        raise ConfigurationError("Where is Label Studio? Give its address: --url http://127.0.0.1:8080")
    if not arguments.timeout > 0:
        raise ConfigurationError(f"--timeout must be more than 0 seconds; got {arguments.timeout:g}.")
    return LabelStudio(url, _token(arguments.token_file), timeout=arguments.timeout)


def _token(file: Path | None) -> str:
    if file is not None:
        return file.read_text(encoding="utf-8", errors="replace")
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token.strip():
        raise ConfigurationError(
            f"Label Studio wants an access token: put it into the environment variable {TOKEN_VARIABLE}, or into a "
            "file that is named with --token-file. It is under Account & Settings there."
        )
    return token


def _number(arguments: argparse.Namespace, last: Place | None, server: LabelStudio) -> int:
    if arguments.project is not None:
        return int(arguments.project)
    if last is None or last.url != server.url:
        raise ConfigurationError(
            f"Which project at {server.url}? Give its number, --project ID, or make one: push --create TITLE"
        )
    return last.project


def _nothing_to_send(arguments: argparse.Namespace, project: Project) -> int:
    print(
        "The machine has labelled nothing yet." if arguments.machine_labels else "Nobody is asked about anything now."
    )
    print(project.status().next_step(str(arguments.folder)))
    return 0


def _tell(pulled: Pulled) -> None:
    other = f", and {pulled.other:,} annotations are about items that are not asked about now" if pulled.other else ""
    print(f"kept {pulled.kept.in_words()}{other}")
