"""``labelsieve audit``, as people use it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from labelsieve.cli import main as cli
from tests.unit.audit.tables import label_table

Files = dict[str, bytes]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's output, and the truth: 2 of the machine labels are wrong."""
    out = tmp_path / "out"
    out.mkdir()
    table = label_table()
    table.to_csv(out / "labels.csv", index=False)
    (out / "run.json").write_text('{"tolerance": 0.1}')
    truth = table[["id"]].assign(truth="cat")
    truth.loc[[100, 200], "truth"] = "dog"
    truth.to_csv(tmp_path / "truth.csv", index=False)
    return out


def audit(*arguments: object) -> int:
    return cli.main(["audit", *map(str, arguments)])


def answered(folder: Path, answers: dict[str, str] | None = None, rows: int | None = None) -> Path:
    """The questions with answers filled in, "cat" unless told otherwise; the first ``rows`` only."""
    questions = pd.read_csv(folder / "audit-questions.csv", dtype=str, keep_default_na=False)
    assert list(questions) == ["id", "machine_label", "answer"]
    assert (questions["answer"] == "").all()
    filled = pd.Series([(answers or {}).get(id_, "cat") for id_ in questions["id"]], dtype=str)
    questions["answer"] = filled if rows is None else filled.where(questions.index < rows, "")
    questions.to_csv(folder.parent / "answers.csv", index=False)
    return folder.parent / "answers.csv"


def test_of_a_project_the_labels_in_its_report_are_audited(folder, capsys):
    project = folder.rename(folder.parent / "report").parent
    assert audit(project, "--simulate", f"{project / 'truth.csv'}:truth") == 0
    assert "A rehearsal: the answers come from" in capsys.readouterr().out
    assert (project / "report" / "certificate.json").is_file()


def test_certificate_and_its_end(folder, capsys):
    before = (folder / "labels.csv").read_bytes()
    assert audit(folder, "--simulate", f"{folder.parent / 'truth.csv'}:truth") == 0
    printed = capsys.readouterr().out
    certificate = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert certificate["promise"] in printed
    assert certificate["tolerance"] == 0.1  # the run's
    assert (folder / "labels.csv").read_bytes() == before
    audited = pd.read_csv(folder / "labels.audited.csv")
    assert (audited["role"] == "audit").sum() == certificate["checked"]
    assert audit("--verify", folder / "certificate.json") == 0
    (folder / "labels.csv").write_bytes(before.replace(b"p5,cat", b"p5,dog"))
    assert audit("--verify", folder / "certificate.json") == 1
    assert "labels.csv is not the file the certificate was issued for" in capsys.readouterr().err


def test_by_hand_over_several_calls(folder, capsys):
    assert audit(folder, "--batch", 20, "--slices", "none") == 1
    assert "Fill in its column answer (20 to do)" in capsys.readouterr().out
    for _ in range(10):
        status = audit(folder, "--batch", 20, "--answers", answered(folder))
        if status == 0:
            break
        assert "more labels would likely settle it" in capsys.readouterr().out
    assert status == 0
    by_hand = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    (folder / "audit.json").unlink()
    truth = pd.read_csv(folder / "labels.csv")[["id", "label"]]
    truth.to_csv(folder.parent / "all-cats.csv", index=False)
    assert audit(folder, "--batch", 20, "--slices", "none", "--simulate", folder.parent / "all-cats.csv") == 0
    simulated = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    assert {**simulated, "date": None} == {**by_hand, "date": None}


def test_partial_answers_count_up_to_the_gap(folder, capsys):
    audit(folder, "--batch", 10)
    path = answered(folder)
    table = pd.read_csv(path, dtype=str)
    table.loc[4, "answer"] = ""
    table.to_csv(path, index=False)
    assert audit(folder, "--answers", path, "--batch", 10) == 1
    printed = capsys.readouterr().out
    assert "4 of 300 machine labels were drawn" in printed
    assert "5 more answers count once" in printed
    assert pd.read_csv(folder / "audit-questions.csv")["id"][0] == table["id"][4]


def test_contradictions_are_reported(folder, capsys):
    audit(folder, "--batch", 10)
    path = answered(folder)
    first = pd.read_csv(path)["id"][0]
    audit(folder, "--answers", path, "--batch", 10)
    pd.DataFrame({"id": [first, "p3"], "answer": "dog"}).to_csv(path, index=False)
    capsys.readouterr()
    assert audit(folder, "--answers", path) == 1
    error = capsys.readouterr().err
    assert f"two answers for id {first!r}: 'cat' (from the audit, kept) and 'dog'" in error
    assert "two answers for id 'p3': 'cat' (from the run, kept) and 'dog'" in error
    audited = pd.read_csv(folder / "labels.audited.csv").set_index("id")
    assert audited.loc[[first, "p3"], "label"].tolist() == ["cat", "cat"]
    state = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    assert len(state["contradictions"]) == 2


def test_answers_nobody_asked_for(folder, capsys):
    audit(folder, "--batch", 10)
    asked = set(pd.read_csv(folder / "audit-questions.csv")["id"])
    other = next(f"p{row}" for row in range(20, 320) if f"p{row}" not in asked)
    path = folder.parent / "answers.csv"
    pd.DataFrame({"id": [other], "answer": "cat"}).to_csv(path, index=False)
    assert audit(folder, "--answers", path) == 1
    assert "1 answers are for labels that were not drawn" in capsys.readouterr().err
    assert json.loads((folder / "audit.json").read_text(encoding="utf-8"))["answers"] == []


def test_filled_questions_are_not_overwritten(folder, capsys):
    audit(folder)
    (folder / "audit-questions.csv").write_bytes(answered(folder, rows=3).read_bytes())
    assert audit(folder) == 2
    assert "holds 3 answers that have not been read yet" in capsys.readouterr().err


def test_budget_is_used_up_and_can_grow(folder, capsys):
    truth = folder.parent / "dogs.csv"
    pd.read_csv(folder / "labels.csv")[["id"]].assign(label="dog").to_csv(truth, index=False)
    assert audit(folder, "--simulate", truth, "--max-labels", 10) == 1
    printed = capsys.readouterr().out
    assert "10 of 300 machine labels were drawn" in printed
    assert "More labels will likely not settle it: 100 % of those checked were wrong" in printed
    assert not (folder / "certificate.json").exists()
    assert audit(folder) == 1
    assert "All 10 labels of this audit are used. To ask for more: --max-labels." in capsys.readouterr().out
    assert audit(folder, "--max-labels", 15) == 1
    assert len(pd.read_csv(folder / "audit-questions.csv")) == 5


def test_rollback(folder, capsys):
    table = label_table(machine=3_000, human=0)
    table.to_csv(folder / "labels.csv", index=False)
    truth = table[["id"]].assign(label=["dog"] * 600 + ["cat"] * 2_400)
    truth.to_csv(folder.parent / "truth.csv", index=False)
    command = [folder, "--simulate", folder.parent / "truth.csv", "--max-labels", 400]
    assert audit(*command) == 1
    assert "A part can be certified now: --rollback takes back" in capsys.readouterr().out
    assert audit(*command, "--rollback") == 0
    assert "were taken back and have no label now" in capsys.readouterr().out
    assert audit("--verify", folder / "certificate.json") == 0
    audited = pd.read_csv(folder / "labels.audited.csv")
    gone = pd.read_csv(folder / "rolled-back.csv")
    assert len(audited) + len(gone) == 3_000
    assert audit(*command) == 1  # without it again: the part's certificate no longer fits
    assert not (folder / "certificate.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{out}", "--delta", "0"], "delta must lie strictly between 0 and 1 (0.05 is a confidence of 95 %); got 0.0."),
        (["{out}", "--tolerance", "1.5"], "tolerance must lie strictly between 0 and 1"),
        (["{out}", "--max-labels", "301"], "got max_labels=301 for 300. Lower it, or leave it out."),
        (["{out}", "--batch", "0"], "--batch must be a whole number from 1 on; got 0."),
        (["{out}/none"], "is no folder"),
        ([], "audit needs the output folder of a run, or --verify with a certificate; got neither."),
        (["{out}", "--simulate", "none.csv"], "there is no none.csv"),
        (["{out}", "--simulate", "{out}/labels.csv:truth"], "must have the columns id and truth; it has id, label"),
        (["{out}", "--answers", "none.csv"], "there is no none.csv"),
        (["{out}", "--answers", "{out}/labels.csv"], "must have the columns id and answer"),
        (["--verify", "none.json"], "none.json cannot be read: No such file or directory."),
    ],
)
def test_bad_input_is_one_line(arguments, message, folder, capsys):
    assert audit(*(argument.format(out=folder) for argument in arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not (folder / "audit.json").exists()


def test_nothing_machine_labelled(folder, capsys):
    label_table(machine=0).to_csv(folder / "labels.csv", index=False)
    assert audit(folder) == 2
    assert "An audit checks machine labels; none of the 20 labels is one." in capsys.readouterr().err


def test_no_tolerance(folder, capsys):
    (folder / "run.json").unlink()
    assert audit(folder) == 2
    assert "Give one, for example --tolerance 0.05." in capsys.readouterr().err


def test_unknown_ids(folder, capsys):
    audit(folder)
    path = folder.parent / "answers.csv"
    path.write_text("id,answer\nq1,cat\n")
    assert audit(folder, "--answers", path) == 2
    assert "it names 1 that are not there, such as 'q1'" in capsys.readouterr().err


def test_settings_are_fixed_once_begun(folder, capsys):
    audit(folder)
    assert audit(folder, "--tolerance", 0.2) == 2
    assert "tolerance was fixed when this audit began" in capsys.readouterr().err


def test_labels_changed_since_the_audit_began(folder, capsys):
    audit(folder)
    with (folder / "labels.csv").open("a") as file:
        file.write("new,cat,machine,machine,1,0.9,0.5\n")
    assert audit(folder) == 2
    assert "has changed since its audit began" in capsys.readouterr().err


def test_a_state_that_is_none(folder, capsys):
    (folder / "audit.json").write_text("{}")
    assert audit(folder) == 2
    assert "must be the state of an audit" in capsys.readouterr().err
