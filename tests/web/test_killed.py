"""Nothing that was acknowledged is lost when the server is killed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pandas as pd

from labelsieve.cli.main import main
from labelsieve.errors import ProjectError
from labelsieve.project import Project
from labelsieve.store.answers import Answers
from labelsieve.store.database import Database
from labelsieve.store.lock import held
from tests.web.conftest import csrf_of, row_of, token_for
from tests.web.projects import CLASSES, made, points

KILLS = int(os.environ.get("LABELSIEVE_KILLS", "5"))
PAGE = {"HX-Request": "true"}
SERVER = """
import sys
import uvicorn
from labelsieve.web.app import create_app
app = create_app(sys.argv[1], tokens=True, run_command=("sleep", "1"))
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), access_log=False, log_level="warning")
"""


def started(folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(folder), str(port)])
    address = f"http://127.0.0.1:{port}"
    for _ in range(200):
        try:
            httpx.get(f"{address}/static/label.js", timeout=1)
            return process, address
        except httpx.TransportError:
            assert process.poll() is None
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def label_until_it_dies(address: str, token: str, acknowledged: list[tuple[int, str]], seed: int) -> None:
    rng = random.Random(seed)
    with httpx.Client(base_url=address, timeout=5) as client:
        try:
            client.get("/enter", params={"token": token})
            page, csrf = client.get("/label").text, csrf_of(client)
            while 'name="row"' in page:
                row, label = row_of(page), rng.choice(("animals", "food", "travel"))
                answer = client.post("/label/answer", data={"row": row, "label": label, "csrf": csrf}, headers=PAGE)
                if answer.status_code == 200:
                    acknowledged.append((row, label))
                page = answer.text
        except httpx.TransportError:
            return


def test_killed_again_and_again_every_acknowledged_label_is_there(tmp_path: Path) -> None:
    folder = made(tmp_path / "p", [f"text {row}" for row in range(100_000)], asked=range(0, 100_000, 5))
    tokens = {name: token_for(folder, name) for name in ("ann", "bob")}
    kept: dict[str, list[tuple[int, str]]] = {name: [] for name in tokens}
    rng = random.Random(KILLS)
    for kill in range(KILLS):
        process, address = started(folder)
        threads = [
            threading.Thread(target=label_until_it_dies, args=(address, token, kept[name], 10 * kill + i))
            for i, (name, token) in enumerate(tokens.items())
        ]
        for thread in threads:
            thread.start()
        time.sleep(rng.uniform(0.2, 1.0))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for thread in threads:
            thread.join()
    assert all(len(labels) > KILLS for labels in kept.values())
    with Database(folder / "project.sqlite") as database:
        assert database.is_whole()
        table = Answers(database).table()
    for name, labels in kept.items():
        own = table[table["annotator"] == name]
        stored = dict(zip(own["row"], own["label"], strict=True))
        assert all(stored.get(row) == label for row, label in labels)
    assert not table["row"].duplicated().any()  # leases outlive the server, too


N_ITEMS = 400 + 10 * KILLS
ROUNDS = {"seed_size": 20, "batch_size": 10, "train_budget": 20 + 10 * KILLS, "validation_budget": 150}
"""A kill costs one round at most, so there is one left for each."""
TRUTH = [CLASSES[code] for code in points(N_ITEMS)[1]]


def wait_until(is_so: Callable[[], bool], what: str, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.05)


@contextmanager
def serving(folder: Path) -> Iterator[httpx.Client]:
    """Ann in front of ``labelsieve serve``, which is killed in the end."""
    command = [sys.executable, "-u", "-m", "labelsieve", "serve", str(folder), "--port", "0", "--people", "ann"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        link = next(found for line in process.stdout if (found := re.search(r"annotator ann: (\S+)(/enter\S+)", line)))
        with httpx.Client(base_url=link[1], timeout=10) as client:

            def is_in() -> bool:
                with suppress(httpx.TransportError):
                    return client.get(link[2]).status_code == 200
                return False

            wait_until(is_in, "the server did not start")
            yield client
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()


def worker_of(folder: Path) -> int | None:
    """The process that has a round under way."""
    with suppress(OSError, ValueError):
        holder = json.loads((folder / "project.lock").read_text(encoding="utf-8"))
        return int(holder["process"]) if holder["doing"] == "labelsieve run" else None
    return None


def label_the_batch(client: httpx.Client, acknowledged: dict[int, str]) -> None:
    page = client.get("/label").text
    csrf = csrf_of(client) if 'name="row"' in page else ""
    while 'name="row"' in page:
        row = row_of(page)
        answer = client.post("/label/answer", data={"row": row, "label": TRUTH[row], "csrf": csrf}, headers=PAGE)
        assert answer.status_code == 200
        acknowledged[row] = TRUTH[row]
        page = answer.text


def answer_questions(project: Project) -> None:
    waiting = project.questions()
    project.answer((id_, TRUTH[row], "ann") for row, id_ in zip(waiting["row"], waiting["id"], strict=True))


def answer_to_the_end(folder: Path) -> None:
    """Without a server."""
    with Project(folder) as project:
        while project.run(progress=False).needed is not None:
            answer_questions(project)


def seconds_of_a_round(folder: Path) -> float:
    """The first one, in a process of its own."""
    with Project(folder) as project:
        project.run(progress=False)
        answer_questions(project)
    process = subprocess.Popen([sys.executable, "-m", "labelsieve", "run", str(folder)], stdout=subprocess.DEVNULL)
    wait_until(lambda: worker_of(folder) is not None, "no round began")
    started = time.perf_counter()
    assert process.wait() == 0
    return time.perf_counter() - started


def is_free(folder: Path) -> bool:
    try:
        with held(folder / "project.lock", "a test"):
            return True
    except ProjectError:
        return False


def labels_of(folder: Path) -> pd.DataFrame:
    assert main(["export", str(folder), "--out", str(folder / "labels.csv")]) == 0
    return pd.read_csv(folder / "labels.csv")


def test_killed_during_rounds_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    """Every other time the machine's process dies, too; else it ends its round, and the next server finds it done."""
    calm, harried = (
        made(tmp_path / name, [f"text {row}" for row in range(N_ITEMS)], labelling=ROUNDS)
        for name in ("calm", "harried")
    )
    long = seconds_of_a_round(calm)
    answer_to_the_end(calm)
    rng, acknowledged = random.Random(KILLS), dict[int, str]()
    for kill in range(KILLS):
        with serving(harried) as client:

            def is_at_work(client: httpx.Client = client) -> bool:
                label_the_batch(client, acknowledged)
                return worker_of(harried) is not None

            wait_until(is_at_work, "no round began")
            worker = worker_of(harried)
            time.sleep(rng.uniform(0, long))
        if kill % 2 == 0 and worker is not None:
            with suppress(ProcessLookupError):  # it was done
                os.kill(worker, signal.SIGKILL)
            (harried / "project.lock").write_text("")  # it is the system that knows who holds it
        with Database(harried / "project.sqlite") as database:
            assert database.is_whole()
            table = Answers(database).table()
        assert dict(zip(table["row"], table["label"], strict=True)) == acknowledged
    assert acknowledged
    wait_until(lambda: is_free(harried), "a round did not end")
    with Project(harried) as project:
        assert project.status().stop_reason is None
    answer_to_the_end(harried)
    labels = labels_of(calm)
    assert set(labels["source"]) == {"human", "machine"}
    pd.testing.assert_frame_equal(labels_of(harried), labels)
