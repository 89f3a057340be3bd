"""Nothing that was acknowledged is lost when the server is killed."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

from labelsieve.store.answers import Answers
from labelsieve.store.database import Database
from tests.web.conftest import csrf_of, row_of, token_for
from tests.web.projects import made

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
