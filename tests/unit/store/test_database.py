"""The file of a project: its versions, its transactions, who may open it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from labelsieve.errors import ProjectError
from labelsieve.store.database import Database
from labelsieve.store.migrations import STEPS


def tables(database: Database) -> set[str]:
    return {name for (name,) in database.read("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_new_file_has_all_tables_and_is_whole(tmp_path: Path) -> None:
    with Database(tmp_path / "p.sqlite", make=True) as database:
        assert tables(database) == {"facts", "items", "entries", "answers", "people", "leases", "passes", "reviews"}
        assert database.is_whole()
        assert database.read("PRAGMA journal_mode").fetchone() == ("wal",)
        assert database.read("PRAGMA foreign_keys").fetchone() == (1,)
        assert database.read("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize("version", range(len(STEPS) + 1))
def test_every_older_file_is_brought_up_to_date_and_keeps_what_it_has(tmp_path: Path, version: int) -> None:
    path = tmp_path / "p.sqlite"
    with Database(path, make=True, steps=STEPS[:version]) as old:
        if version:
            with old.transaction() as connection:
                connection.execute("INSERT INTO items VALUES (0, 'a', 'text')")
    with Database(path) as database:
        assert database.read("PRAGMA user_version").fetchone() == (len(STEPS),)
        assert database.read("SELECT * FROM items").fetchall() == ([(0, "a", "text")] if version else [])


def test_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "p.sqlite"
    Database(path, make=True).close()
    broken = (*STEPS, ("CREATE TABLE more (x)", "CREATE TABLE items (x)"))
    with pytest.raises(ProjectError, match="already exists"):
        Database(path, steps=broken)
    with Database(path) as database:
        assert "more" not in tables(database)
        assert database.read("PRAGMA user_version").fetchone() == (len(STEPS),)


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.sqlite"
    Database(path, make=True, steps=(*STEPS, ("CREATE TABLE more (x)",))).close()
    with pytest.raises(ProjectError, match=r"newer labelsieve .*Upgrade"):
        Database(path)


def test_other_files_are_refused_and_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(ProjectError, match="not one of labelsieve"):
        Database(foreign)
    garbage = tmp_path / "garbage.sqlite"
    garbage.write_bytes(b"this is no database" * 100)
    with pytest.raises(ProjectError, match="damaged or no project file"):
        Database(garbage)
    assert garbage.read_bytes() == b"this is no database" * 100
    with pytest.raises(ProjectError, match="there is none"):
        Database(tmp_path / "missing.sqlite")
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    with Database(tmp_path / "p.sqlite", make=True) as database:
        with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
            connection.executemany("INSERT INTO facts VALUES (?, 'b')", [("a",), ("a",)])
        assert database.fact("a") is None


def test_a_full_disk_is_said_and_costs_nothing_that_was_kept(tmp_path: Path) -> None:
    with Database(tmp_path / "p.sqlite", make=True) as database:
        with database.transaction() as connection:
            connection.execute("INSERT INTO facts VALUES ('kept', 'yes')")
        (pages,) = database.read("PRAGMA page_count").fetchone()
        database.read(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(ProjectError, match=r"full.*Make room"), database.transaction() as connection:
            connection.execute("INSERT INTO facts VALUES ('large', ?)", ("x" * 10_000_000,))
        assert database.fact("kept") == "yes"
        assert database.fact("large") is None
        assert database.is_whole()


def test_a_damaged_page_is_said_and_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "p.sqlite"
    with Database(path, make=True) as database, database.transaction() as connection:
        connection.executemany(
            "INSERT INTO items VALUES (?, ?, ?)", ((row, f"i{row}", "x" * 500) for row in range(500))
        )
    content = bytearray(path.read_bytes())
    content[60_000:200_000] = b"\xff" * 140_000
    path.write_bytes(content)
    with Database(path) as database, pytest.raises(ProjectError, match="restore a backup"):
        database.read("SELECT count(content) FROM items WHERE content != ''")
