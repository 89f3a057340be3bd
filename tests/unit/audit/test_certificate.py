"""Certificates: what is in them, and that nothing in or beside them can be changed unnoticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelsieve.audit import audit_table, certificate, verify, write_audit
from labelsieve.audit.certificate import certificate_json
from labelsieve.audit.labels import csv_bytes
from labelsieve.audit.page import certificate_html
from labelsieve.errors import ConfigurationError, DataError
from tests.unit.audit.tables import all_cats, label_table


@pytest.fixture
def issued(tmp_path: Path) -> Path:
    """A folder with labels, audited labels and a certificate."""
    table = label_table()
    (tmp_path / "labels.csv").write_bytes(csv_bytes(table))
    write_audit(audit_table(table, all_cats, tolerance=0.1), tmp_path)
    return tmp_path / "certificate.json"


@pytest.fixture
def issued_for_a_part(tmp_path: Path) -> Path:
    table = label_table(machine=3_000)
    bad = set(table["id"][20:620])
    (tmp_path / "labels.csv").write_bytes(csv_bytes(table))
    audit = audit_table(
        table, lambda ids: ["dog" if id_ in bad else "cat" for id_ in ids], tolerance=0.1, max_labels=400
    )
    write_audit(audit, tmp_path, rollback=True)
    return tmp_path / "certificate.json"


def test_a_certificate_holds(issued, issued_for_a_part):
    assert verify(issued) == []
    assert verify(issued_for_a_part) == []


def test_what_it_says(issued):
    content = json.loads(issued.read_text(encoding="utf-8"))
    assert content["machine_labels"] == 300
    assert content["checked"] + content["remaining"] == 300
    assert content["errors"] == 0
    assert content["bound"] <= content["tolerance"] == 0.1
    assert content["all_labels"] == 320
    assert content["bound_on_all_labels"] == content["most_wrong"] / 320
    assert content["date"].endswith("+00:00")
    assert f"at most 10 % of the {content['remaining']} machine labels that remain" in content["promise"]


def test_what_it_says_of_a_part(issued_for_a_part):
    content = json.loads(issued_for_a_part.read_text(encoding="utf-8"))
    assert not content["whole"]["certified"]
    back = content["rollback"]
    assert back["taken_back"] > 400
    assert content["remaining"] + content["checked"] + back["taken_back"] > 3_000 - 1  # checked ones may lie outside
    assert len(back["slices_kept"]) + len(back["slices_taken_back"]) == 10
    gone = (issued_for_a_part.with_name("rolled-back.csv")).read_text(encoding="utf-8").splitlines()
    assert len(gone) == back["taken_back"] + 1


@pytest.mark.parametrize("name", ["labels.csv", "labels.audited.csv"])
def test_one_byte_of_a_label_file(issued, name):
    path = issued.with_name(name)
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    (problem,) = verify(issued)
    assert problem.startswith(f"{name} is not the file the certificate was issued for: its SHA-256 is ")


def test_a_label_file_that_is_gone(issued):
    issued.with_name("labels.csv").unlink()
    assert verify(issued)[0].startswith("labels.csv is not beside the certificate")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"errors": 9}, "The counts do not support the promise: 9 wrong of"),
        ({"tolerance": 0.01}, "The counts do not support the promise"),
        ({"checked": 74}, "The certificate says"),
        ({"seed": 1}, "The certificate cannot be recomputed"),
        ({"most_wrong": 1}, "The certificate says most_wrong = 1; the files give"),
        ({"promise": "All is well."}, "The certificate says promise = 'All is well.'"),
        ({"whole": None}, "The certificate cannot be recomputed"),
        ({"delta": 0.001}, "uses a delta of"),
    ],
)
def test_a_certificate_that_was_touched_up(issued, change, message):
    content = json.loads(issued.read_text(encoding="utf-8"))
    issued.write_text(json.dumps(content | change), encoding="utf-8")
    assert any(message in problem for problem in verify(issued))


def test_a_rollback_that_was_touched_up(issued_for_a_part):
    content = json.loads(issued_for_a_part.read_text(encoding="utf-8"))
    content["rollback"]["taken_back"] -= 1
    issued_for_a_part.write_text(json.dumps(content), encoding="utf-8")
    assert verify(issued_for_a_part)[0].startswith("The certificate says rollback = ")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "something else"}'])
def test_files_that_are_no_certificate(text, tmp_path):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(DataError, match="certificate"):
        verify(tmp_path / "c.json")
    with pytest.raises(DataError, match="cannot be read"):
        verify(tmp_path / "none.json")


def test_no_certificate_without_passing():
    audit = audit_table(label_table(), lambda ids: ["dog"] * len(ids), tolerance=0.1, max_labels=20)
    with pytest.raises(ConfigurationError, match=r"these have not\. More labels will likely not settle it: 100 %"):
        certificate(audit)


def test_json_is_strict_even_when_all_was_checked():
    audit = audit_table(label_table(machine=20), all_cats, tolerance=0.1, max_labels=20)
    content = certificate(audit)
    assert content["whole"]["evidence"] is None
    assert content["remaining"] == 0
    assert json.loads(certificate_json(content), parse_constant=pytest.fail) == content
    assert "none remains" in content["promise"]


def test_page_escapes_and_needs_nothing_else():
    table = label_table().assign(id=[f"<script>{row}</script>" for row in range(320)])
    answers = dict.fromkeys(table["id"], "cat") | {"<script>3</script>": "<img src=x>"}
    audit = audit_table(table, lambda ids: answers, tolerance=0.1)
    page = certificate_html(certificate(audit))
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "prefers-color-scheme: dark" in page
    assert certificate(audit)["promise"] in page
    assert audit.labels.sha256 in page
