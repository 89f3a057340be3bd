"""The documents say what the code does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from labelsieve import registry
from labelsieve.cli.main import main

ROOT = Path(__file__).parents[2]
GROUPS = {"classifier": "Classifiers", "training": "Train-time methods", "confidence": "Confidence functions",
          "thresholds": "Threshold rules", "query": "Queries"}  # fmt: skip


def rows(section: str) -> dict[str, str]:
    """Table rows of one section of docs/methods.md by the name in their first cell."""
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    body = re.search(rf"^## {section}.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[0]
    return {match[1]: match[0] for match in re.finditer(r"^\| `([\w-]+)` \|.*$", body, re.MULTILINE)}


@pytest.mark.parametrize("group", GROUPS)
def test_every_method_has_a_row_and_every_row_a_method(group):
    assert set(rows(GROUPS[group])) == set(registry.BUILT_IN[group])


@pytest.mark.parametrize(("group", "name"), [(g, n) for g, names in registry.BUILT_IN.items() for n in names])
def test_every_parameter_stands_in_its_row(group, name):
    described = set(re.findall(r"`(\w+)`", rows(GROUPS[group])[name].split("|")[3]))
    parameters = set(registry.create(group, name).get_params(deep=False))
    assert parameters <= described
    assert described - parameters <= {"mlp"}


def test_readme_names_every_method():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for group, names in registry.BUILT_IN.items():
        row = re.search(rf"^\| `{group}` \| (.*) \|$", text, re.MULTILINE)[1]
        assert set(names) <= set(re.findall(r"`([\w-]+)`", row))


def python_blocks(page: str) -> list[str]:
    return re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def test_the_worked_example_runs_and_passes_its_contract(tmp_path):
    module = tmp_path / "test_worked_example.py"
    module.write_text("\n\n".join(python_blocks("adding-a-method.md")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={ROOT}",
         "-c", ROOT / "pyproject.toml", "-k", "TestNeighbours", module],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 15


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_readme_shows_what_the_demo_prints(tmp_path):
    """Everything but the seconds and the paths."""
    done = subprocess.run(
        [sys.executable, "-m", "labelsieve", "demo", "--out", tmp_path], capture_output=True, text=True, check=True
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for line in done.stdout.splitlines():
        if line.strip() and "time" not in line and not line.startswith(("wrote", "To check")):
            assert line.rstrip() in readme


def test_every_option_of_search_is_described():
    shown = subprocess.run(
        [sys.executable, "-m", "labelsieve", "search", "--help"], capture_output=True, text=True, check=True
    ).stdout
    options = set(re.findall(r"^  (--[\w-]+)", shown, re.MULTILINE))
    assert len(options) > 20
    page = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(--[\w-]+)`", page.partition("## All options")[2])) == options


@pytest.mark.parametrize(
    "command", ["init", "add", "run", "ask", "answer", "status", "export", "report", "serve", "people"]
)
def test_every_option_of_a_project_command_is_in_the_tutorial(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `labelsieve {command} DIR.*", page, flags=re.MULTILINE)
    assert set(re.findall(r"--[a-z-]+", row)) == options


def test_the_grids_that_are_shown_are_those_that_ship():
    tables = tomllib.loads((ROOT / "src" / "labelsieve" / "search" / "grids.toml").read_text(encoding="utf-8"))
    shipped = {
        (grid, method): {
            name: ", ".join(value if isinstance(value, str) else json.dumps(value) for value in values)
            for name, values in parameters.items()
        }
        for grid, table in tables.items()
        for group in ("training", "confidence")
        for method, parameters in table.get(group, {}).items()
    }
    page = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    shown = {
        (row[1], row[2]): dict(re.findall(r"`(\w+)` ([^;|]+?)(?:;| *$)", row[3]))
        for row in re.finditer(r"^\| `([\w-]+)` \| `([\w-]+)`[^|]*\| (.*) \|$", page, re.MULTILINE)
    }
    assert shown == shipped


def test_nothing_is_left_to_fill_in():
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"^[A-Z]+_[A-Z]+$|TODO|TBD", page.read_text(encoding="utf-8"), re.MULTILINE), page.name


def test_the_tables_of_performance_are_those_of_the_history():
    from benchmarks.document import DOCUMENT, document, tables

    text = DOCUMENT.read_text(encoding="utf-8")
    assert document(text, tables()) == text


def test_the_whole_runs_of_guarantees_are_those_that_were_measured():
    from benchmarks.document import document
    from benchmarks.guarantees import DOCUMENT, RESULTS, table

    text = DOCUMENT.read_text(encoding="utf-8")
    assert document(text, {"whole runs": table(json.loads(RESULTS.read_text(encoding="utf-8")))}) == text
