"""Projects: reading a large file, writing all labels, the first page, and answering with many people at once.

``python -m benchmarks.projects`` takes about two minutes with a million rows.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from benchmarks.harness import Row, table

PEOPLE, ANSWERS_EACH = 20, 25
SERVERS, VISITS = 5, 11
WORDS = 5_000


def write_rows(path: Path, n: int) -> None:
    """An id, a text of 12 words and a class."""
    rng = random.Random(0)
    words = [f"word{number}" for number in range(WORDS)]
    with path.open("w", encoding="utf-8") as file:
        file.write("id,body,topic\n")
        for row in range(n):
            file.write(f"p{row},{' '.join(rng.choices(words, k=12))},{'ab'[row % 2]}\n")


def timed(*arguments: str) -> tuple[float, float]:
    """Seconds, and the most memory in MB, of a command of its own process."""
    code = (
        "import resource, sys; from labelsieve.cli.main import main; status = main(sys.argv[1:]); "
        "print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr); sys.exit(status)"
    )
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    (peak,) = re.findall(r"^peak (\d+)", done.stderr, flags=re.MULTILINE)
    return time.perf_counter() - started, float(peak)


def files(folder: Path, n: int) -> list[Row]:
    """In and out."""
    write_rows(folder / "rows.csv", n)
    project = str(folder / "large")
    data = ["--data", str(folder / "rows.csv"), "--text", "body", "--id", "id", "--classes", "a,b"]
    made, made_peak = timed("init", project, *data)
    out, out_peak = timed("export", project, "--all", "--content", "--out", str(folder / "all.csv"))
    return [
        Row(f"init with {n:,} rows of CSV", made, note=f"{made_peak:.0f} MB at most"),
        Row(f"export of {n:,} rows", out, note=f"{out_peak:.0f} MB at most"),
    ]


def asked(project: Path, n: int) -> None:
    """A project in which people are asked about a first batch."""
    rows = project.parent / f"{project.name}.csv"
    write_rows(rows, n)
    budget = ["--train-budget", str(4 * PEOPLE * ANSWERS_EACH), "--validation-budget", "500"]
    data = ["--data", str(rows), "--text", "body", "--id", "id", "--classes", "a,b", *budget]
    timed("init", str(project), *data)
    config = project / "labelsieve.toml"
    config.write_text(config.read_text().replace("svd_dimensions = 400", "svd_dimensions = 10"))
    timed("run", str(project))


@contextmanager
def served(project: Path, *people: str) -> Iterator[tuple[int, list[str]]]:
    """The port of a server just started, and a token for each of the people."""
    command = [sys.executable, "-m", "labelsieve", "serve", str(project), "--port", "0"]
    options = ["--people", ",".join(people)] if people else []
    server = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(re.findall(r":(\d+)", server.stdout.readline())[-1])
        yield port, [server.stdout.readline().rpartition("token=")[2].strip() for _ in people]
    finally:
        server.terminate()
        server.wait()


def first_page(folder: Path, n: int) -> list[Row]:
    """For the first visitor of a server that has just started, and in a browser that knows nothing of it yet."""
    project = folder / "first"
    asked(project, n)
    times = []
    for _ in range(SERVERS):
        with served(project) as (port, _):
            started = time.perf_counter()
            page, _ = _get(HTTPConnection("127.0.0.1", port, timeout=60), "/label", "")
            times.append(time.perf_counter() - started)
            assert 'data-state="question"' in page
    rows = [Row(f"first page, slowest of {SERVERS} servers, {n:,} items", max(times))]
    program = shutil.which("chromium")
    if program is not None:
        with served(project) as (port, _):
            painted = _painted(program, f"http://127.0.0.1:{port}/label")
        note = f"slowest {1e3 * max(painted):.0f} ms"
        rows.append(Row(f"first page painted by Chromium, median of {VISITS}", float(np.median(painted)), note=note))
    return rows


def _painted(program: str, address: str) -> list[float]:
    """Seconds from the request to text on the screen, without anything cached."""
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(VISITS):
            page = browser.new_context().new_page()
            page.goto(address)
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
            times.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1e3)
            page.context.close()
        browser.close()
    return times


def answering(folder: Path, n: int, pause: float) -> Row:
    """Each of many people answers one item after the other, ``pause`` seconds apart."""
    project = folder / f"asked-{pause}"
    asked(project, n)
    times: list[float] = []
    with served(project, *(f"p{number}" for number in range(PEOPLE))) as (port, tokens):
        working = [threading.Thread(target=_one_person, args=(port, token, pause, times)) for token in tokens]
        for thread in working:
            thread.start()
        for thread in working:
            thread.join()
    assert len(times) == PEOPLE * ANSWERS_EACH
    p50, p95, p99 = np.percentile(times, [50, 95, 99])
    name = f"answer posted, p95 of {len(times)}, {PEOPLE} people, {n:,} items, {pause:g} s to think"
    return Row(name, float(p95), note=f"median {1e3 * p50:.0f} ms, p99 {1e3 * p99:.0f} ms")


def _one_person(port: int, token: str, pause: float, times: list[float]) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    rng = random.Random(token)
    cookie = _get(connection, f"/enter?token={token}", "")[1]
    page, _ = _get(connection, "/label", cookie)
    for _ in range(ANSWERS_EACH):
        time.sleep(rng.uniform(0, 2 * pause))
        form = {name: re.findall(rf'name="{name}" value="([^"]+)"', page)[0] for name in ("csrf", "row")}
        headers = {
            "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{port}",
        }  # fmt: skip
        started = time.perf_counter()
        connection.request("POST", "/label/answer", urlencode({**form, "label": rng.choice("ab")}), headers)
        reply = connection.getresponse()
        reply.read()
        times.append(time.perf_counter() - started)
        assert reply.status in (200, 303), reply.status
        page, _ = _get(connection, "/label", cookie)


def _get(connection: HTTPConnection, path: str, cookie: str) -> tuple[str, str]:
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    reply = connection.getresponse()
    return reply.read().decode(), (reply.getheader("Set-Cookie") or "").partition(";")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = files(Path(folder), given.rows)
        rows += first_page(Path(folder), given.items)
        rows += [answering(Path(folder), given.items, pause) for pause in (0.0, 0.5)]
    print(table(rows))


if __name__ == "__main__":
    main()
